/** The address of the store, as people write it where no shell expands it. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { addressArgument, storeAddress, storeName } from '../../src/infrastructure/platform/paths.ts';

const HOME = '/home/ada';

test.each([
  [undefined, '/home/ada/.local/state/hive/hive.db'],
  ['', '/home/ada/.local/state/hive/hive.db'],
  ['/var/lib/hive.db', '/var/lib/hive.db'],
  ['/var/./lib/../hive.db', '/var/hive.db'],
  ['/srv/my hive/ünïcode "$x".db', '/srv/my hive/ünïcode "$x".db'],
  ['~/hive.db', '/home/ada/hive.db'],
  ['~/a/../b.db', '/home/ada/b.db'],
  ['postgres://ada@db.example/team?schema=x', 'postgres://ada@db.example/team?schema=x'],
  ['postgresql://ada@db.example/team', 'postgresql://ada@db.example/team'],
])('HIVE_STORE %j is taken as %s', (given, address) => {
  expect(storeAddress({ HOME, XDG_STATE_HOME: undefined, HIVE_STORE: given })).toBe(address);
});

const RELATIVE = ['hive.db', './x/hive.db', '../hive.db', '%HOME%/hive.db'];
const REFUSED = [
  ...RELATIVE,
  '~',
  '~ada/hive.db',
  '$HOME/hive.db',
  // biome-ignore lint/suspicious/noTemplateCurlyInString: as somebody may write it in JSON
  '${HOME}/hive.db',
  '"/tmp/x/hive.db"',
  "'/tmp/x/hive.db'",
  ' /tmp/x/hive.db',
  '/tmp/x/hive.db ',
  '/tmp/x/hive.db\n',
  '/tmp/x\0/hive.db',
  ' ',
  ' postgres://hive@db.example/d',
  'Postgres://hive@db.example/d',
  'POSTGRES://hive@db.example/d',
  'postgres:/hive@db.example/d',
  'pg://hive@db.example/d',
  'postgresql+psycopg://u@db.example/d',
  'host=db.example dbname=d',
  'sqlite:///tmp/x/hive.db',
  'sqlite:/tmp/x/hive.db',
  'file:///tmp/x/hive.db',
  'https://hive.example.org',
  ':memory:',
];

describe('HIVE_STORE is refused with a sentence:', () => {
  test.each(REFUSED)('%j', (given) => {
    const message = expect.stringMatching(
      /^HIVE_STORE is ".*", which is neither an absolute path nor a postgres:\/\/ URL\. Nothing was stored\. Write it like/,
    );
    expect(() => storeAddress({ HOME, HIVE_STORE: given })).toThrow(
      expect.objectContaining({ code: 'invalid_input', message }),
    );
    expect(() => storeAddress({ HOME }, given)).toThrow(expect.objectContaining({ code: 'invalid_input' }));
  });

  test.each(['Postgres://hive:secret@db.example/d', 'host=db password=secret', ' postgres://u:secret@h/d'])(
    'without its password: %j',
    (given) => {
      expect(() => storeAddress({ HOME, HIVE_STORE: given })).toThrow(/^(?!.*secret)HIVE_STORE is/);
    },
  );
});

describe('a postgres:// URL', () => {
  test.each([
    'postgres://ada:4711/0815@db.example/team',
    'postgres://ada:4711/0815=y?0815@db.example/team',
    'postgres://ada:4711?0815@db.example/team',
    'postgres://ada:4711?0815=y&0815@db.example/team',
    'postgres://ada:4711#0815@db.example/team',
    'postgres://ada@db.example/team?password=4711#0815',
  ])(
    'whose password ends at a character that is not escaped is refused without any part of it: %j',
    (given) => {
      const message = /^(?!.*(4711|0815))HIVE_STORE is "postgres:.*in a password \/ is %2F/;
      expect(() => storeAddress({ HOME, HIVE_STORE: given })).toThrow(message);
    },
  );

  test.each([
    'postgres://ada:47%2F11@db.example/team',
    'postgres://ada:p@ss@db.example:5433/team?schema=x',
    'postgres:///team?host=/run/postgresql&user=ada@corp&password=p@ss',
    'postgresql://db.example?sslrootcert=/etc/a@b.pem',
  ])('is taken otherwise: %j', (given) => {
    expect(storeAddress({ HOME, HIVE_STORE: given })).toBe(given);
  });
});

describe('an address on a command line', () => {
  test('may be a path relative to the folder', () => {
    expect(addressArgument('--to', 'backup.db', { HOME })).toBe(`${process.cwd()}/backup.db`);
    expect(addressArgument('--to', '../my backup.db', { HOME })).toMatch(/^\/.*\/my backup\.db$/);
    expect(addressArgument('--to', '~/hive.db', { HOME })).toBe('/home/ada/hive.db');
  });

  test.each(REFUSED.filter((given) => !RELATIVE.includes(given)))('is refused otherwise: %j', (given) => {
    expect(() => addressArgument('--to', given, { HOME })).toThrow(/^--to is ".*", which is neither/);
  });
});

describe('no password is in', () => {
  const around = fc.string({ unit: fc.constantFrom(...':@/?#&=%+ \'"\\[]ab19') });
  const password = fc.tuple(around, around).map(([before, after]) => `${before}geheim${after}`);
  /** The password as a URL takes it. */
  const plain = password.map((text) => text.replace(/[/?#%[\]\\ "]/g, encodeURIComponent));

  test('the name of a store', () => {
    fc.assert(
      fc.property(plain, password, (raw, text) => {
        const encoded = encodeURIComponent(text);
        for (const address of [
          `postgres://ada:${raw}@db.example/team`,
          `postgres://ada:${encoded}@db.example:5433/team?schema=x`,
          `postgres://db.example/team?user=ada&password=${encoded}`,
          `postgresql://ada@db.example/team?password=${encoded}&schema=x`,
        ])
          expect(storeName(address)).toMatch(
            /^postgres(ql)?:\/\/db\.example(:5433)?\/team\?schema=(hive|x)$/,
          );
      }),
    );
  });

  test('the sentence that refuses an address', () => {
    fc.assert(
      fc.property(password, (text) => {
        for (const address of [
          `Postgres://ada:${text}@db.example/team`,
          ` postgres://ada:${text}@db.example/team?user=x@y`,
          `ada:${text}@db.example/team`,
          `host=db.example password='${text}'`,
          `host=db.example password = ${text} dbname=d`,
          ` postgres://db.example/team?password=${text}`,
        ])
          expect(() => storeAddress({ HOME, HIVE_STORE: address })).toThrow(/^(?!.*geheim)HIVE_STORE is/);
      }),
    );
  });
});
