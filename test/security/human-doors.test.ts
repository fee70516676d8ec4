/**
 * Attempts of an agent to act for the human, and the answer to each (docs/internals/threat-model.md).
 *
 * @module-tag no-self-approval
 * @module-tag provenance
 * @module-tag mcp
 * @module-tag cli
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { permissionDigest } from '../../src/domain/permissions.ts';
import {
  childEnvironment,
  type Environment,
  HIVE,
  ROOT,
  readOutput,
  spawnChild,
  spawnHive,
} from '../support/children.ts';
import { shell } from '../support/cli.ts';
import { seated } from '../support/coordinators.ts';
import { ask, eventsOf, introduction, newHive, openTestHive, SEAT_SECRET } from '../support/hive.ts';
import { trusting } from '../support/human-file.ts';
import { clientOf, INITIALIZE, type RpcError, startSidecar } from '../support/sidecar.ts';
import { tempFolder, tempHome, tempStore } from '../support/temp.ts';
import { eventually } from '../support/wait.ts';

/** This test process becomes a registered agent, and with it all that it starts. */
async function becomeAgent(store: string): Promise<void> {
  const hive = await openTestHive(store);
  await hive.sessions.introduce(introduction({ machine: hostname(), pid: process.pid }));
}

/** Runs a program that is detached from everything above it; returns what it said. */
async function detached(store: string, env: Environment, words: string[]): Promise<string> {
  const said = join(tempFolder(), 'said');
  const command = words.map((word) => `'${word}'`).join(' ');
  const line = `exec ${command} </dev/null >'${said}' 2>&1`;
  await spawnChild('setsid', ['--fork', 'sh', '-c', line], childEnvironment(store, env)).exited;
  await eventually(() => read(said) !== '', 10_000, 'what it says');
  return read(said);
}

function read(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

describe('an agent cannot open a desk', () => {
  // unit/agent-environment.test.ts has the other variables of agents.
  test('the sidecar refuses the environment of an agent', async () => {
    const store = tempStore();
    const sidecar = spawnHive(['sidecar'], childEnvironment(store, { CODEX_THREAD_ID: 't1' }));
    expect(await sidecar.exited).toMatchObject({ code: 7 });
    expect(sidecar.stderr()).toMatch(
      /^hive: Only a human may open a desk\. This process belongs to an agent \(CODEX_THREAD_ID is set\)\. Quit this Emacs and start it yourself/,
    );
    expect(await eventsOf(await openTestHive(store), 'desk/changed')).toEqual([]);
  });

  test('a clean environment and a separate store do not hide an agent whose shell still has its variables', async () => {
    const store = tempStore();
    const env = childEnvironment(store);
    const clean = Object.entries(env).map(([name, value]) => `'${name}=${value}'`);
    const run = (command: string) => {
      const line = `env -i ${clean.join(' ')} '${process.execPath}' '${HIVE}' ${command}; exit $?`;
      return spawnChild('/bin/sh', ['-c', line], { ...env, CLAUDECODE: '1' });
    };
    for (const command of ['sidecar', 'token list', 'config wake off']) {
      const refused = run(command);
      expect(await refused.exited, command).toMatchObject({ code: 7 });
      expect(refused.stderr(), command).toContain('CLAUDECODE is set in a process that started this one');
    }
    expect(await eventsOf(await openTestHive(store), 'desk/changed', 'seat/registered')).toEqual([]);
  });

  test('however many shells with a clean environment it starts in one another, none hides it', async () => {
    const store = tempStore();
    const env = childEnvironment(store);
    const clean = Object.entries(env).map(([name, value]) => `${name}=${value}`);
    // Each shell stays, because it has another command after the next shell.
    const nest = `n=$1; shift; if [ "$n" = 0 ]; then "$0" "$@"; else env -i "NEST=$NEST" ${clean
      .map((one) => `'${one}'`)
      .join(' ')} sh -c "$NEST" "$0" $((n - 1)) "$@"; fi; exit $?`;
    const words = ['-c', nest, process.execPath, '100', HIVE, 'token', 'list'];
    const refused = spawnChild('sh', words, { ...env, NEST: nest, CLAUDECODE: '1' });
    expect(await refused.exited).toMatchObject({ code: 7 });
    expect(refused.stderr()).toContain('CLAUDECODE is set in a process that started this one');
  });

  test('the sidecar refuses to run below a registered session, whatever its environment', async () => {
    const store = tempStore();
    await becomeAgent(store);
    const sidecar = spawnHive(['sidecar'], childEnvironment(store));
    expect(await sidecar.exited).toMatchObject({ code: 7 });
    expect(sidecar.stderr()).toContain('it runs under Claude-sessi');
  });

  test('admitted: one that leaves its process tree without its variables opens a desk, which has no key: its answers are unattested, and allow nothing', async () => {
    const { store, hive } = await newHive();
    await becomeAgent(store);
    const question = await ask(hive, {}, 'asker');
    const permission = await ask(hive, { kind: 'permission', options: ['Allow', 'Deny'] }, 'asker');
    // Its parent is gone, so that nothing shows this test, which is the agent.
    const line = 'setsid --fork "$@"; exec sleep 60';
    const words = ['-c', line, 'sh', process.execPath, HIVE, 'sidecar'];
    const child = spawnChild('sh', words, childEnvironment(store, seated()));
    const { stdin, stdout } = child.process;
    const desk = clientOf(stdin, stdout);
    await desk.request('initialize', { ...INITIALIZE, seat_key: '77'.repeat(32) });
    desk.notify('initialized', {});
    await desk.request('hivemind-response', { ask_id: question.ask_id, decision: 'yes', by: 'Ada' });
    const displayed_digest = permissionDigest(permission);
    await desk.request('hivemind-response', {
      ask_id: permission.ask_id,
      decision: 'Allow',
      by: 'Ada',
      displayed_digest,
    });
    stdin.end();
    expect(await hive.prompts.get(question.ask_id)).toMatchObject({ decision: 'yes', attested: false });
    expect(await hive.prompts.get(permission.ask_id)).toMatchObject({ decision: 'Allow', attested: false });
    const stored = await hive.prompts.get(permission.ask_id);
    const response = await hive.store.read((tx) => tx.prompts.response(stored.response_id ?? ''));
    expect(response?.signature ?? null).toBeNull();
  });

  test('a program with variables that it does not pass on starts no headless run', async () => {
    const store = tempStore();
    const script = join(tempFolder(), 'headless.ts');
    const source = JSON.stringify(join(ROOT, 'src/extensions/runs/agent-sdk/index.ts'));
    writeFileSync(
      script,
      `import { openAgentHive, runHeadless } from ${source};
const hive = await openAgentHive();
try { await runHeadless(hive, { prompt: 'x', env: {}, pathToClaudeCodeExecutable: '/none/claude' }); console.log('started'); }
catch (error) { console.log(error.message); }
await hive.close();
`,
    );
    const args = ['--import', join(ROOT, 'test/support/sql-loader.mjs'), script];
    const agent = spawnChild(process.execPath, args, childEnvironment(store, { CLAUDECODE: '1' }));
    const said = readOutput(agent);
    await agent.exited;
    expect(said()).toContain('CLAUDECODE is set');
  });

  test('a sidecar that an agent started before it registered does nothing for that agent', async () => {
    const { store, hive } = await newHive();
    const desk = await startSidecar(store);
    await becomeAgent(store);
    const { ask_id } = await ask(hive, { kind: 'permission', options: ['Allow', 'Deny'] }, 'asker');
    const refused = (method: string, params: object): Promise<string> =>
      desk.request(method, params).then(
        () => 'admitted',
        (error: RpcError) => error.data.code,
      );
    expect(
      await refused('hivemind-response', { ask_id, decision: 'Allow', by: 'root', response_id: 'r1' }),
    ).toBe('not_allowed');
    expect(await refused('desk/preferences', { popup_permissions: true })).toBe('not_allowed');
    expect(await refused('prompt/cancel', { ask_id, by: 'root' })).toBe('not_allowed');
    expect(await refused('message/post', { body: 'Go on.', by: 'root' })).toBe('not_allowed');
    desk.notify('hivemind-response', { ask_id, decision: 'Allow', by: 'root' });
    // Each refused answer is kept for the human to see, and none is accepted.
    await eventually(async () => (await eventsOf(hive, 'desk/notice')).length >= 2, 10_000, 'two notices');
    expect(await hive.prompts.get(ask_id)).toMatchObject({ status: 'pending', decision: null });
    expect(await eventsOf(hive, 'desk/preferences_changed')).toEqual([]);
  });
});

describe('every change of a preference is an event with who, from where and through what', () => {
  test('in Emacs: the desk and its process', async () => {
    const { store, hive } = await newHive();
    const desk = await startSidecar(store);
    await desk.request('desk/preferences', { notify_when: 'never', outreach: { allow_ping: false } });
    const changes = (await eventsOf(hive, 'desk/preferences_changed')).map(({ data }) => data);
    const origin = { via: 'emacs', by: 'Ada', pid: desk.child.pid, from: desk.hello.desk_id };
    expect(changes).toEqual([
      expect.objectContaining({ changed: ['allow_ping'], ...origin }),
      expect.objectContaining({ changed: ['notify_when'], ...origin }),
    ]);
  });

  test('in a shell: the process, and the terminal if there is one', async () => {
    const store = tempStore();
    const person = shell(store, { HIVE_USER: 'Ada' });
    await person.hive('config', 'sound', 'yes');
    await person.terminal(['config', 'sound', 'no'], 'sound: no', '');
    const [script, typed] = await eventsOf(await openTestHive(store), 'desk/preferences_changed');
    expect(script?.data).toMatchObject({ changed: ['sound'], via: 'cli', by: 'Ada', from: null });
    expect(script?.data['pid']).toBeGreaterThan(1);
    expect(typed?.data['from']).toMatch(/^\/dev\/(pts\/\d+|tty)/);
  });
});

describe('an answer from a shell is typed by a person', () => {
  const question = async (store: string, request: object = {}): Promise<string> =>
    (await ask(await openTestHive(store), request)).ask_id;

  test('`env -i setsid hive respond` answers nothing, unless scripts may answer, and then unattested', async () => {
    const store = tempStore();
    const ask_id = await question(store);
    const respond = [process.execPath, HIVE, 'respond', ask_id, 'yes'];
    expect(await detached(store, { HOME: tempHome() }, respond)).toContain('must be confirmed at a terminal');
    expect((await shell(store).hive('poll', ask_id)).code).toBe(3);
    expect(await detached(store, {}, respond)).toContain(`Answered ${ask_id} (unattested): yes`);
  });

  test('without a terminal and without the permission of the human an answer is refused', async () => {
    const store = tempStore();
    const ask_id = await question(store);
    const home = tempFolder();
    const refused = await shell(store, { HOME: home }).hive('respond', ask_id, 'yes');
    expect(refused.code).toBe(7);
    expect(refused.err).toContain('An answer must be confirmed at a terminal');
    expect(refused.err).toContain(join(home, '.config/hive/trust.json'));
    expect((await shell(store).hive('poll', ask_id)).code).toBe(3);
  });

  test('a yes from a pipe does not count as typed, although there is a terminal', async () => {
    const store = tempStore();
    const ask_id = await question(store, { kind: 'permission', options: ['Allow', 'Deny'] });
    const hive = `'${process.execPath}' '${HIVE}' respond ${ask_id} Allow`;
    const command = `yes | ${hive}; echo yes | setsid ${hive}; exit 0`;
    const child = spawnChild('script', ['-qec', command, '/dev/null'], {
      ...childEnvironment(store),
      TERM: 'dumb',
    });
    await child.exited;
    expect((await shell(store).hive('poll', ask_id)).code).toBe(3);
  });

  /** Runs a command at a terminal that `script` has opened, and types yes there until it ends; returns what it said. */
  async function atFakedTerminal(env: Environment, ...args: string[]): Promise<string> {
    const said = join(tempFolder(), 'said');
    const command = [process.execPath, HIVE, ...args].map((word) => `'${word}'`).join(' ');
    const script = `exec script -qec "${command}; echo over" '${said}' >/dev/null 2>&1`;
    const feed = 'while echo yes; do sleep 0.05; done';
    const detached = `${feed} | setsid --fork sh -c ${JSON.stringify(script).replaceAll('$', '\\$')}`;
    const child = spawnChild('sh', ['-c', detached], { ...env, TERM: 'dumb' });
    await eventually(() => /over\r?\n/.test(read(said)), 20_000, 'the end of the command');
    await child.kill('SIGKILL');
    return read(said);
  }

  test('admitted: an agent types in a terminal that a detached `script` opens: unattested, and it allows nothing', async () => {
    const store = tempStore();
    const ask_id = await question(store);
    const env = childEnvironment(store, { HOME: tempHome() });
    expect(await atFakedTerminal(env, 'respond', ask_id, 'yes')).toContain('(unattested): yes');
    const permission = await question(store, { kind: 'permission', options: ['Allow', 'Deny'] });
    expect(await atFakedTerminal(env, 'respond', permission, 'Allow')).toContain(
      'Here you can only deny a permission',
    );
    const poll = async (id: string) => (await shell(store).hive('poll', id, '--json')).json();
    expect(await poll(ask_id)).toMatchObject({ decision: 'yes', attested: false });
    expect(await poll(permission)).toMatchObject({ status: 'pending' });
  });

  test('a permission is allowed in Emacs only, unless the human lets their terminal allow it; it can be denied', async () => {
    const { store, hive } = await newHive();
    const asked = () => ask(hive, { kind: 'permission', options: ['Allow', 'Deny'] });
    const [{ ask_id }, second] = [await asked(), await asked()];
    const person = shell(store, { HOME: tempHome() });
    const refused = await person.terminal(['respond', ask_id, 'Allow'], 'Type yes', 'yes');
    expect(refused).toMatchObject({ code: 7 });
    expect(refused.out).toContain('Here you can only deny a permission.');
    const { code } = await person.terminal(['respond', ask_id, 'Allow', '--amend'], 'Type yes', 'yes');
    expect(code).toBe(7);
    const signature = async (id: string): Promise<unknown> => {
      const { response_id } = await hive.prompts.get(id);
      return (await hive.store.read((tx) => tx.prompts.response(response_id ?? '')))?.signature ?? null;
    };
    expect(await hive.prompts.get(ask_id)).toMatchObject({ status: 'pending' });
    expect((await person.terminal(['respond', ask_id, 'Deny'], 'Type yes', 'yes')).code).toBe(0);
    expect(await signature(ask_id)).toBeNull();
    const trusted = shell(store, trusting({ terminal_may_allow: true }));
    expect((await trusted.terminal(['respond', second.ask_id, 'Allow'], 'Type yes', 'yes')).code).toBe(0);
    expect(await hive.prompts.get(second.ask_id)).toMatchObject({ decision: 'Allow', attested: true });
    expect(await signature(second.ask_id)).toMatch(/^[\w-]{86}$/);
  });

  test('a yes before the end of a long permission was shown only shows more of it', async () => {
    const store = tempStore();
    const context = Array.from({ length: 200 }, (_, n) => `line ${n}`).join('\n');
    const ask_id = await question(store, { kind: 'permission', options: ['Allow', 'Deny'], context });
    const person = shell(store, trusting({ terminal_may_allow: true }));
    const typed = ['yes', ...Array.from({ length: 30 }, () => 'no')].join('\n');
    const { code, out } = await person.terminal(['respond', ask_id, 'Allow'], 'line 0', typed);
    expect(code).toBe(7);
    expect(out).toContain('line 199');
    expect((await person.hive('poll', ask_id)).code).toBe(3);
  });

  test("a script's answer is marked as unattested everywhere, and cannot answer a permission", async () => {
    const { store, hive } = await newHive();
    const script = shell(store);
    const { ask_id } = await ask(hive);
    expect((await script.hive('respond', ask_id, 'yes')).out).toBe(`Answered ${ask_id} (unattested): yes\n`);
    expect(await hive.prompts.get(ask_id)).toMatchObject({ decision: 'yes', attested: false });
    expect((await script.hive('poll', ask_id, '--json')).json()).toMatchObject({ attested: false });
    expect((await script.hive('poll', ask_id)).out).toContain('(unattested)');
    expect((await script.hive('list', '--status', 'all')).out).toContain('responded, unattested');
    expect((await script.hive('history')).out).toContain('→ yes (unattested)');
    expect((await eventsOf(hive, 'prompt/responded'))[0]?.data).toMatchObject({ attested: false });
    const permission = await ask(hive, { kind: 'permission', options: ['Allow', 'Deny'] });
    expect((await script.hive('respond', permission.ask_id, 'Allow')).code).toBe(7);
    expect(await hive.prompts.get(permission.ask_id)).toMatchObject({ status: 'pending' });
  });

  test('an answer that a script corrects is no longer attested', async () => {
    const { store, hive } = await newHive();
    const desk = await startSidecar(store, { env: seated(), seat_key: SEAT_SECRET });
    const { ask_id } = await ask(hive);
    await desk.request('hivemind-response', { ask_id, decision: 'no', by: 'Ada' });
    expect(await hive.prompts.get(ask_id)).toMatchObject({ decision: 'no', attested: true });
    const amended = await shell(store, { HIVE_USER: 'Ada' }).hive('respond', '--amend', ask_id, 'yes');
    expect(amended.out).toBe(`Corrected ${ask_id} (unattested): yes\n`);
    expect(await hive.prompts.get(ask_id)).toMatchObject({ decision: 'yes', attested: false });
  });

  test('a yes typed at the terminal gives an answer, which is attested where the file lets terminals sign; anything else gives none', async () => {
    const store = tempStore();
    const ask_id = await question(store, { question: 'Deploy?', options: ['now', 'later'] });
    const person = shell(store, { HOME: tempHome() });
    const declined = await person.terminal(['respond', ask_id, 'now'], 'Type yes', 'y');
    expect(declined).toMatchObject({ code: 7 });
    expect(declined.out).toContain('Not confirmed');
    const typed = await person.terminal(['respond', ask_id, 'now'], 'Type yes', 'yes');
    expect(typed).toMatchObject({ code: 0 });
    expect(typed.out).toContain('Deploy?');
    expect(typed.out).toContain('Options: now | later');
    expect((await person.hive('poll', ask_id, '--json')).json()).toMatchObject({
      decision: 'now',
      attested: false,
    });
    const again = await question(store, { question: 'Deploy?', options: ['now', 'later'] });
    const signing = shell(store, trusting({ terminal_may_allow: true }));
    expect(await signing.terminal(['respond', again, 'now'], 'Type yes', 'yes')).toMatchObject({ code: 0 });
    expect((await signing.hive('poll', again, '--json')).json()).toMatchObject({ attested: true });
  });
});
