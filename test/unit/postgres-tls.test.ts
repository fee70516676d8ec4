/** The meaning of `sslmode` and the other parameters of an address, and the sentences about a certificate. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { postgresAddress } from '../../src/extensions/postgres/pool.ts';
import { takeTls, tlsProblem, type Way } from '../../src/extensions/postgres/tls.ts';
import { tempFolder } from '../support/temp.ts';

function waysOf(query: string, env: Record<string, string> = {}): readonly Way[] {
  const url = new URL(`postgres://ada@db:5432/hive?schema=team${query}`);
  const ways = takeTls(url, 'HIVE_STORE', { HOME: '/nowhere', ...env });
  // The client library gives these another meaning, with a warning.
  expect(url.search).toBe('?schema=team');
  return ways();
}

function authority(): string {
  const file = join(tempFolder(), 'ca.pem');
  writeFileSync(file, 'the authority');
  return file;
}

const ANY = { rejectUnauthorized: false };
const CHAIN = { ca: 'the authority', checkServerIdentity: expect.any(Function) };

test.each([
  ['', [false]],
  ['&sslmode=disable', [false]],
  ['&sslmode=allow', [false, ANY]],
  ['&sslmode=prefer', [ANY, false]],
  ['&sslmode=require', [ANY]],
  ['&ssl=true', [ANY]],
  ['&sslmode=verify-full', [{}]],
  ['&sslmode=verify-full&sslrootcert=system', [{}]],
])('%s', (query, ways) => {
  expect(waysOf(query)).toEqual(ways);
});

test.each([
  ['require', CHAIN],
  ['verify-ca', CHAIN],
  ['verify-full', { ca: 'the authority' }],
])('with an authority, sslmode=%s checks the certificate', (mode, way) => {
  const file = authority();
  expect(waysOf(`&sslmode=${mode}&sslrootcert=${file}`)).toEqual([way]);
  expect(waysOf('', { PGSSLMODE: mode, PGSSLROOTCERT: file })).toEqual([way]);
  const home = tempFolder();
  mkdirSync(join(home, '.postgresql'));
  writeFileSync(join(home, '.postgresql/root.crt'), 'the authority');
  expect(waysOf(`&sslmode=${mode}`, { HOME: home })).toEqual([way]);
});

test.each(['sslmod=verify-full', 'ssl_mode=require', 'SSLMODE=require', 'schem=team', 'currentSchema=team'])(
  'a parameter that would have no effect is refused: %s',
  (parameter) => {
    const address = `postgres://ada@db/hive?${parameter}`;
    expect(() => postgresAddress(address)).toThrow(
      /^HIVE_STORE has a parameter that Hive does not know\. .* schema, prepare, sslmode/,
    );
    expect(() => postgresAddress('postgres://ada@db/hive', { HIVE_LISTEN_URL: address })).toThrow(
      /^HIVE_LISTEN_URL has a parameter/,
    );
  },
);

test.each(['statement_timeout', 'lock_timeout', 'connect_timeout'])('so is a time limit: %s', (parameter) => {
  expect(() => postgresAddress(`postgres://ada@db/hive?${parameter}=5`)).toThrow(
    `HIVE_STORE has the parameter ${parameter}. Leave it out: Hive sets its own time limits.`,
  );
});

test('a parameter that has an effect is not', () => {
  const known =
    'schema=team&prepare=off&ssl=true&host=/run/postgresql&port=5433&user=ada&application_name=a&options=-c%20jit=off';
  expect(postgresAddress(`postgres:///hive?${known}`)).toMatchObject({ schema: 'team', prepares: false });
});

test('a certificate of the client goes with it', () => {
  const file = authority();
  expect(waysOf(`&sslmode=verify-full&sslcert=${file}&sslkey=${file}`)).toEqual([
    { cert: 'the authority', key: 'the authority' },
  ]);
});

test('a file is read anew each time, and one that is not there is a sentence', () => {
  const file = authority();
  const ways = takeTls(
    new URL(`postgres://ada@db/hive?sslmode=verify-full&sslrootcert=${file}`),
    'HIVE_STORE',
    {},
  );
  writeFileSync(file, 'the next one');
  expect(ways()).toEqual([{ ca: 'the next one' }]);
  expect(() => waysOf('&sslmode=verify-full&sslrootcert=/nowhere/ca.pem')).toThrow(
    /^The file that sslrootcert of the store names cannot be read \(ENOENT.*correct sslrootcert/,
  );
});

test.each([
  ['no-verify', /sslmode=no-verify in HIVE_STORE does not exist/],
  ['', /^$/],
  ['verify-ca', /needs the one authority that may: add sslrootcert/],
  ['verify-ca&sslrootcert=system', /needs the one authority that may/],
])('sslmode=%s', (mode, sentence) => {
  if (mode === '') expect(waysOf('&sslmode=')).toEqual([false]);
  else expect(() => waysOf(`&sslmode=${mode}`)).toThrow(sentence);
});

test.each([
  ['SELF_SIGNED_CERT_IN_CHAIN', 'sslrootcert=/path/ca.pem'],
  ['ERR_TLS_CERT_ALTNAME_INVALID', 'belongs to another host'],
  ['CERT_HAS_EXPIRED', 'has expired'],
  ['CERT_NOT_YET_VALID', 'not valid yet'],
  ['CERT_REVOKED', 'Check the certificates'],
  ['ERR_SSL_WRONG_VERSION_NUMBER', 'Check the certificates'],
  ['ERR_OSSL_PEM_NO_START_LINE', 'Check the certificates'],
])('%s is said in a sentence', (code, words) => {
  expect(tlsProblem(Object.assign(new Error('what the library says'), { code }), 'db/hive')).toContain(words);
});

test('an error of the network is none of TLS', () => {
  for (const code of ['ECONNREFUSED', 'ETIMEDOUT', '28P01', ''])
    expect(tlsProblem(Object.assign(new Error('away'), { code }), 'db/hive')).toBeNull();
});
