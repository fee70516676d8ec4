/**
 * Code that somebody plants where Hive keeps compiled code between starts: it is not run.
 *
 * @module-tag no-authority
 * @module-tag hook
 */
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { childEnvironment, outputOf, ROOT, spawnChild, spawnHive } from '../support/children.ts';
import { beforeFile } from '../support/lifetime.ts';
import { copyFolder, tempFolder } from '../support/temp.ts';

interface Place {
  env: ReturnType<typeof childEnvironment>;
  /** The kept code of a hook, that of another hook of the same program, their folder and the key. */
  file: string;
  other: string;
  folder: string;
  key: string;
  /** The file that the planted code writes. */
  ran: string;
}

async function fire(env: Place['env'], name: string): Promise<void> {
  const child = spawnHive(['hook'], env);
  const tool = { tool_name: 'Bash', tool_input: { command: 'ls' }, tool_use_id: `t-${name}` };
  const event = { session_id: '5e551000-0000-4000-8000-000000000001', cwd: '/home/user/project', ...tool };
  child.process.stdin.end(JSON.stringify({ ...event, hook_event_name: name }));
  expect([await child.exited, child.stderr()]).toEqual([{ code: 0, signal: null }, '']);
}

/** Where two hooks have made the store and kept their code, and hostile code for it. */
let used: Pick<Place, 'env' | 'ran'>;
let hostile: Buffer;
beforeFile(async () => {
  used = emptyPlace();
  for (const name of ['PreToolUse', 'PreToolUse', 'PostToolUse', 'PostToolUse']) await fire(used.env, name);
  hostile = await hostileCode(used);
});

function emptyPlace(): Pick<Place, 'env' | 'ran'> {
  const home = tempFolder();
  return { env: childEnvironment(join(home, 'hive.db'), { HOME: home }), ran: join(home, 'ran') };
}

/** A copy of it. */
function place(): Place {
  const { env, ran } = emptyPlace();
  const home = dirname(ran);
  copyFolder(dirname(used.ran), home);
  const state = join(home, '.local/state/hive');
  const folder = join(state, 'code');
  const digest = readFileSync(join(ROOT, 'dist/hook-small.cjs'), 'latin1').slice(-17, -1);
  const [file = '', other = ''] = ['PreToolUse', 'PostToolUse'].map((kind) =>
    join(folder, readdirSync(folder).find((name) => name.includes(digest) && name.endsWith(kind)) ?? '?'),
  );
  return { env, file, other, folder, key: join(state, 'code.key'), ran };
}

/** Compiled code that the engine takes for that of dist/hook-small.cjs: it compares the lengths of the sources. */
async function hostileCode({ env, ran }: typeof used): Promise<Buffer> {
  const source = readFileSync(join(ROOT, 'dist/hook-small.cjs'), 'latin1');
  const text = `(function (module, require) {
    module.exports.runHook = function () { require('fs').writeFileSync(process.env.HOME + '/ran', 'ran'); };
  })`;
  const out = join(tempFolder(), 'code');
  const script = `
    const script = new (require('vm').Script)(${JSON.stringify(text)}.padEnd(${source.length}));
    const module = { exports: {} };
    script.runInThisContext()(module, require);
    module.exports.runHook();
    require('fs').writeFileSync(${JSON.stringify(out)}, script.createCachedData());`;
  await outputOf(spawnChild(process.execPath, ['-e', script], env));
  unlinkSync(ran);
  return readFileSync(out);
}

const sealed = (code: Buffer, key: Buffer, file: string): Buffer =>
  Buffer.concat([code, code, key, Buffer.from(file.split('/').at(-1) ?? '')]);

test('the attack is real: code with the key is run', async () => {
  const here = place();
  writeFileSync(here.file, sealed(hostile, readFileSync(here.key), here.file));
  await fire(here.env, 'PreToolUse');
  expect(existsSync(here.ran)).toBe(true);
});

const ATTACKS: [string, (here: Place, code: Buffer, key: Buffer) => void][] = [
  ['without a key', ({ file }, code) => writeFileSync(file, Buffer.concat([code, code]))],
  ['with a key of its own', ({ file }, code) => writeFileSync(file, sealed(code, Buffer.alloc(32), file))],
  [
    'under the name of other code',
    ({ file, other }, code, key) => {
      writeFileSync(other, sealed(code, key, other));
      renameSync(other, file);
    },
  ],
  [
    'in a file that others can read, and the key with it',
    ({ file }, code, key) => {
      writeFileSync(file, sealed(code, key, file));
      chmodSync(file, 0o644);
    },
  ],
  [
    'with a key that others can read',
    ({ file, key: place }, code, key) => {
      writeFileSync(file, sealed(code, key, file));
      chmodSync(place, 0o640);
    },
  ],
  [
    'in a folder that others can open',
    ({ file, folder }, code, key) => {
      writeFileSync(file, sealed(code, key, file));
      chmodSync(folder, 0o755);
    },
  ],
  [
    'behind a link for the file',
    ({ file, ran }, code, key) => {
      writeFileSync(`${ran}.code`, sealed(code, key, file), { mode: 0o600 });
      unlinkSync(file);
      symlinkSync(`${ran}.code`, file);
    },
  ],
  [
    'behind a link for the folder',
    ({ file, folder, ran }, code, key) => {
      mkdirSync(`${ran}.folder`, { mode: 0o700 });
      writeFileSync(join(`${ran}.folder`, file.slice(folder.length + 1)), sealed(code, key, file), {
        mode: 0o600,
      });
      renameSync(folder, `${folder}.aside`);
      symlinkSync(`${ran}.folder`, folder);
    },
  ],
  [
    'in the cache, which may be open to others',
    ({ env, file }, code, key) => {
      unlinkSync(file);
      const caches = join(env['HOME'] ?? '', '.cache/hive');
      mkdirSync(caches, { recursive: true, mode: 0o700 });
      const name = file.split('/').at(-1) ?? '';
      writeFileSync(join(caches, name), Buffer.concat([code, code]), { mode: 0o600 });
      writeFileSync(join(caches, `${name}-`), sealed(code, key, file), { mode: 0o600 });
    },
  ],
  [
    'beside a store that a project named',
    ({ env, file, key: place }, code, key) => {
      const folder = join(env['HIVE_STORE'] ?? '', '..', 'code');
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      writeFileSync(join(folder, file.split('/').at(-1) ?? ''), sealed(code, key, file), { mode: 0o600 });
      writeFileSync(join(folder, '../code.key'), key, { mode: 0o600 });
      unlinkSync(file);
      unlinkSync(place);
    },
  ],
];

test.each(ATTACKS)('code that is planted %s is not run', async (_how, plant) => {
  const here = place();
  plant(here, hostile, readFileSync(here.key));
  await fire(here.env, 'PreToolUse');
  expect(existsSync(here.ran)).toBe(false);
});

test('a file of another user is replaced by one of our own', { tags: ['root'] }, async () => {
  const { env, file } = place();
  chownSync(file, 12_345, 12_345);
  await fire(env, 'PreToolUse');
  expect(statSync(file).uid).toBe(0);
});
