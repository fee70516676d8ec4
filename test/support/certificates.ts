/** Certificates for a server of a test: an authority, and what it has signed. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export interface Authority {
  /** The file of its certificate. */
  readonly file: string;
  /** Signs a certificate for `names` (`IP:127.0.0.1`), for these days of the year 2000 or for a day from now on. */
  sign(name: string, names: string, validity?: 'over'): { cert: string; key: string };
}

export function createAuthority(folder: string): Authority {
  mkdirSync(folder, { recursive: true });
  const openssl = (...args: string[]): void => {
    execFileSync('openssl', args, { cwd: folder, stdio: 'pipe' });
  };
  const pair = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  openssl(
    'req',
    '-x509',
    ...pair,
    '-days',
    '2',
    '-subj',
    '/CN=authority',
    '-keyout',
    'ca.key',
    '-out',
    'ca.pem',
  );
  writeFileSync(
    join(folder, 'ca.conf'),
    [
      '[ca]\ndefault_ca = us',
      '[us]\ndatabase = index\nserial = serial\nnew_certs_dir = .\ndefault_md = sha256\npolicy = any\ncopy_extensions = copy\nunique_subject = no',
      '[any]\ncommonName = supplied',
    ].join('\n'),
  );
  writeFileSync(join(folder, 'index'), '');
  writeFileSync(join(folder, 'serial'), '01\n');
  return {
    file: join(folder, 'ca.pem'),
    sign(name, names, validity) {
      const [key, request, cert] = [`${name}.key`, `${name}.csr`, `${name}.pem`] as const;
      openssl(
        'req',
        ...pair,
        '-subj',
        `/CN=${name}`,
        '-addext',
        `subjectAltName=${names}`,
        '-keyout',
        key,
        '-out',
        request,
      );
      const dates =
        validity === 'over'
          ? ['-startdate', '20000101000000Z', '-enddate', '20000102000000Z']
          : ['-days', '1'];
      openssl(
        ...['ca', '-batch', '-config', 'ca.conf', '-cert', 'ca.pem', '-keyfile', 'ca.key', '-notext'],
        ...dates,
        ...['-in', request, '-out', cert],
      );
      return { cert: join(folder, cert), key: join(folder, key) };
    },
  };
}
