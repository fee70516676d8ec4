/**
 * Mutated notifications to Emacs: Emacs stays responsive, shows its list, and receives the next question.
 *
 * @module-tag untrusted
 * @module-tag undisturbed
 * @module-tag emacs
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import fc from 'fast-check';
import { ROOT } from '../support/children.ts';
import { lisp } from '../support/emacs.ts';
import { goldenNames, readGolden } from '../wire/golden.ts';
import { fuzz } from './fuzz.ts';
import { anyJson, changed, type Json, oddText } from './inputs.ts';

type Told = { method: string; params: Json };

function goldenNotifications(): Told[] {
  return goldenNames('sidecar').flatMap((name) => {
    const { notification } = readGolden(`sidecar/${name}`) as { notification?: Told | Told[] };
    return [notification ?? []].flat();
  });
}

const TOLD = goldenNotifications();

const notification: fc.Arbitrary<Told> = fc.constantFrom(...TOLD).chain(({ method, params }) =>
  fc.record({
    method: fc.oneof({ weight: 9, arbitrary: fc.constant(method) }, { weight: 1, arbitrary: oddText }),
    params: fc.oneof(
      { weight: 9, arbitrary: changed(fc.constant(params)) },
      { weight: 1, arbitrary: anyJson },
    ),
  }),
);

/** One Emacs receives many, because starting it is expensive. */
const MANY = 150;

fuzz('emacs wire: Emacs receives anything and stays responsive', 2, () =>
  fc.asyncProperty(fc.array(notification, { minLength: 1, maxLength: MANY, size: 'max' }), async (told) => {
    const folder = mkdtempSync(join(tmpdir(), `hive-fuzz-${process.pid}-`));
    try {
      const file = join(folder, 'told.jsonl');
      writeFileSync(file, told.map((one) => JSON.stringify(one).toWellFormed()).join('\n'));
      const said = await emacs(folder, file);
      if (!said.includes('AWAKE')) throw new Error(said);
    } finally {
      rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
    }
  }),
);

async function emacs(folder: string, file: string): Promise<string> {
  const child = spawn(
    'emacs',
    [
      ...['-Q', '--batch', '-L', join(ROOT, 'elisp'), '-L', join(ROOT, 'test/emacs')],
      ...['-l', join(ROOT, 'test/fuzz/hive-fuzz.el'), '--eval', `(hive-fuzz-run ${lisp(file)})`],
    ],
    {
      env: {
        PATH: `${dirname(process.execPath)}:/usr/bin:/bin`,
        HOME: folder,
        TMPDIR: folder,
        LANG: 'C.UTF-8',
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  );
  let said = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      said += text;
    });
  const timer = setTimeout(() => child.kill('SIGKILL'), 60_000);
  await new Promise((resolve) => child.once('close', resolve));
  clearTimeout(timer);
  return said;
}
