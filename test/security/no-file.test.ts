/**
 * Named pipes, devices and sockets where a file is expected: nothing waits for one or reads it for ever.
 *
 * @module-tag untrusted
 * @module-tag cli
 * @module-tag hook
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { files } from '../../src/infrastructure/platform/files.ts';
import { findProject, provenProject } from '../../src/infrastructure/platform/project.ts';
import { shell } from '../support/cli.ts';
import { ask, openTestHive } from '../support/hive.ts';
import { trustFileOf, trusting } from '../support/human-file.ts';
import { whenFinished } from '../support/lifetime.ts';
import { NO_STORE } from '../support/remote.ts';
import { tempFolder, tempStore } from '../support/temp.ts';

type Kind = 'pipe' | 'device' | 'socket';
const KINDS: Kind[] = ['pipe', 'device', 'socket'];

/** Puts something at this path that is not a regular file. */
async function put(path: string, kind: Kind): Promise<string> {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  if (kind === 'pipe') execFileSync('mkfifo', ['-m', '600', path]);
  else if (kind === 'device') symlinkSync('/dev/zero', path);
  else {
    // The path of a socket has to be short.
    const folder = mkdtempSync(join(tmpdir(), 's-'));
    const server = createServer().listen(join(folder, 's'));
    await new Promise((resolve) => server.once('listening', resolve));
    whenFinished(() => {
      server.close();
      rmSync(folder, { recursive: true });
    });
    symlinkSync(join(folder, 's'), path);
  }
  return path;
}

test.each(KINDS)('a %s as the file of a token is refused with a sentence', async (kind) => {
  const file = await put(join(tempFolder(), 'token'), kind);
  const remote = ['--url', 'http://127.0.0.1:9', '--token-file', file];
  const far = shell(NO_STORE).start('hook', ...remote);
  far.child.process.stdin.end(JSON.stringify({ hook_event_name: 'Stop', session_id: 's', cwd: '/' }));
  expect((await far.done).err).toContain(file);
  const bridge = shell(NO_STORE).start('mcp', ...remote);
  bridge.child.process.stdin.end(
    `${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params: { protocolVersion: '2025-06-18' } })}\n`,
  );
  expect(`${(await bridge.done).out}`).toContain(`The token file ${file} cannot be read`);
  const store = tempStore();
  await put(join(dirname(store), 'token'), kind);
  const shown = await shell(store).hive('token', 'show');
  expect(shown.code).not.toBe(0);
  expect(shown.err).toMatch(kind === 'socket' ? /ENXIO/ : /token is not a file/);
});

test.each(KINDS)("a %s as the human's file or as the key of a seat permits nothing", async (kind) => {
  const store = tempStore();
  const { ask_id } = await ask(await openTestHive(store));
  const config = tempFolder();
  const path = await put(trustFileOf(config), kind);
  const refused = await shell(store, { XDG_CONFIG_HOME: config }).hive('respond', ask_id, 'yes');
  expect(refused).toMatchObject({ code: 7, err: expect.stringContaining('must be confirmed at a terminal') });
  const doctor = await shell(store, { XDG_CONFIG_HOME: config }).hive('doctor');
  expect(doctor.out).toContain(path);
  const env = trusting({});
  await put(join(dirname(trustFileOf(env['XDG_CONFIG_HOME'])), 'seat.key'), kind);
  const person = await shell(store, env).terminal(['respond', ask_id, 'yes'], 'Type yes', 'yes');
  expect(person.code).toBe(0);
});

test('a pipe in place of a file of git or of a transcript delays nobody', async () => {
  const folder = tempFolder();
  await put(join(folder, 'file/.git'), 'pipe');
  expect(findProject(join(folder, 'file'))).toMatchObject({
    project_dir: join(folder, 'file'),
    branch: null,
  });
  expect(provenProject(join(folder, 'file'))).toBe(join(folder, 'file'));
  for (const name of ['HEAD', 'commondir']) {
    await put(join(folder, name, '.git', name), 'pipe');
    expect(findProject(join(folder, name)).project_dir).toBe(join(folder, name));
  }
  expect(files.readTail(await put(join(folder, 'transcript'), 'pipe'), 9)).toBeNull();
});
