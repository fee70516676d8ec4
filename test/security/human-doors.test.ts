/**
 * Who may act for the human: the ways that an agent tried, and the answer to each (docs/threat-model.md).
 *
 * @module-tag no-self-approval
 * @module-tag provenance
 * @module-tag sqlite
 * @module-tag mcp
 * @module-tag cli
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import {
  childEnvironment,
  type Environment,
  HIVE,
  ROOT,
  spawnChild,
  spawnHive,
} from '../support/children.ts';
import { shell } from '../support/cli.ts';
import { ask, eventsOf, introduction, openTestHive } from '../support/hive.ts';
import { trusting } from '../support/human-file.ts';
import { type RpcError, startSidecar } from '../support/sidecar.ts';
import { tempFolder, tempStore } from '../support/temp.ts';
import { eventually } from '../support/wait.ts';

const AGENTS: Environment[] = [
  { CLAUDECODE: '1' },
  { CLAUDE_CODE_SESSION_ID: 'c1' },
  { CODEX_THREAD_ID: 't1' },
  { HIVE_AGENT: 'builder' },
];

/** This test process becomes a registered agent, and with it all that it starts. */
async function becomeAgent(store: string): Promise<void> {
  const hive = await openTestHive(store);
  await hive.sessions.introduce(introduction({ machine: hostname(), pid: process.pid }));
}

/** Runs a command whose parent ends at once; returns what it said. */
async function asOrphan(store: string, ...args: string[]): Promise<string> {
  return detached(store, 'exec', [HIVE, ...args]);
}

/** Runs a program below a shell whose parent ends at once; returns what it said. */
async function belowOrphan(store: string, ...args: string[]): Promise<string> {
  return detached(store, 'below', args);
}

async function detached(store: string, how: 'exec' | 'below', args: string[]): Promise<string> {
  const said = join(tempFolder(), 'said');
  const command = [process.execPath, ...args].map((word) => `'${word}'`).join(' ');
  const run = `${command} </dev/null >'${said}' 2>&1`;
  // The parent of the shell, setsid, is gone before the program starts.
  const parent = '"$(ps -o ppid= -p $$ | tr -d " ")"';
  const orphaned = `while [ "$(ps -o comm= -p ${parent})" = setsid ]; do :; done`;
  const orphan = how === 'exec' ? `exec ${run}` : `${orphaned}; ${run}; exit 0`;
  const env = childEnvironment(store);
  await spawnChild('setsid', ['--fork', 'sh', '-c', orphan], env).exited;
  await eventually(() => read(said) !== '', 10_000, 'what the orphan says');
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
  test.each(AGENTS)('the sidecar refuses an environment with %o', async (env) => {
    const store = tempStore();
    const sidecar = spawnHive(['sidecar'], childEnvironment(store, env));
    expect(await sidecar.exited).toMatchObject({ code: 7 });
    expect(sidecar.stderr()).toMatch(
      /^hive: Only a human may open a desk\. This process belongs to an agent \(\w+ is set\)\. Quit this Emacs and start it yourself/,
    );
    expect(await eventsOf(await openTestHive(store), 'desk/opened')).toEqual([]);
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
    expect(await eventsOf(await openTestHive(store), 'desk/opened', 'seat/registered')).toEqual([]);
  });

  test('the sidecar refuses to run below a registered session, whatever its environment', async () => {
    const store = tempStore();
    await becomeAgent(store);
    const sidecar = spawnHive(['sidecar'], childEnvironment(store));
    expect(await sidecar.exited).toMatchObject({ code: 7 });
    expect(sidecar.stderr()).toContain('it runs under Claude-sessi');
  });

  test('the sidecar refuses a caller that hides its ancestors', async () => {
    expect(await asOrphan(tempStore(), 'sidecar')).toContain('The parent of this process is gone');
  });

  test('a shell whose parent is gone does not hide an agent either', async () => {
    const store = tempStore();
    const { ask_id } = await ask(await openTestHive(store));
    for (const args of [
      ['sidecar'],
      ['token', 'make', 'evil'],
      ['config', 'quota_pending', '9'],
      ['post', 'I am the human.'],
      ['respond', ask_id, 'yes'],
    ])
      expect(await belowOrphan(store, HIVE, ...args)).toContain(
        'The parent of a shell or script above this process is gone',
      );
    const script = join(tempFolder(), 'below.mjs');
    writeFileSync(
      script,
      "import { spawnSync } from 'node:child_process';\nspawnSync(process.execPath, process.argv.slice(2), { stdio: 'inherit' });\n",
    );
    expect(await belowOrphan(store, script, HIVE, 'post', 'Me, too.')).toContain('is gone, so nothing shows');
    expect(await eventsOf(await openTestHive(store), 'desk/opened', 'token/changed')).toEqual([]);
  });

  test('a program below such a shell, or with variables that it does not pass on, starts no headless run', async () => {
    const store = tempStore();
    const script = join(tempFolder(), 'headless.ts');
    const source = JSON.stringify(join(ROOT, 'src/adapters/agent-sdk/index.ts'));
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
    expect(await belowOrphan(store, ...args)).toContain('is gone, so nothing shows that you started it');
    const agent = spawnChild(process.execPath, args, childEnvironment(store, { CLAUDECODE: '1' }));
    let said = '';
    agent.process.stdout.setEncoding('utf8').on('data', (text: string) => {
      said += text;
    });
    await agent.exited;
    expect(said).toContain('CLAUDECODE is set');
  });

  test('a sidecar that an agent started before it registered does nothing for that agent', async () => {
    const store = tempStore();
    const hive = await openTestHive(store);
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
    const store = tempStore();
    const hive = await openTestHive(store);
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

  test('`env -i setsid hive respond` answers nothing, even where scripts may answer', async () => {
    const store = tempStore();
    const ask_id = await question(store);
    expect(await asOrphan(store, 'respond', ask_id, 'yes')).toContain('The parent of this process is gone');
    expect(await asOrphan(store, 'cancel', ask_id)).toContain('The parent of this process is gone');
    expect(await asOrphan(store, 'post', 'I am the human.')).toContain('The parent of this process is gone');
    expect((await shell(store).hive('poll', ask_id)).code).toBe(3);
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
  async function atFakedTerminal(env: Environment, how: 'alone' | 'below a shell', ...args: string[]) {
    const said = join(tempFolder(), 'said');
    const command = [process.execPath, HIVE, ...args].map((word) => `'${word}'`).join(' ');
    const feed = 'while echo yes; do sleep 0.05; done';
    const script = `script -qec "${command}; echo over" '${said}' >/dev/null 2>&1`;
    const line = how === 'alone' ? `exec ${script}` : `${script}; exit $?`;
    const detached = `${feed} | setsid --fork sh -c ${JSON.stringify(line).replaceAll('$', '\\$')}`;
    const child = spawnChild('sh', ['-c', detached], { ...env, TERM: 'dumb' });
    await eventually(() => /over\r?\n/.test(read(said)), 20_000, 'the end of the command');
    await child.kill('SIGKILL');
    return read(said);
  }

  test.each(['alone', 'below a shell'] as const)(
    "a terminal that a detached `script` opens, %s, is not a person's terminal",
    async (how) => {
      const store = tempStore();
      const ask_id = await question(store);
      const env = childEnvironment(store, { HOME: tempFolder() });
      expect(await atFakedTerminal(env, how, 'respond', ask_id, 'yes')).toContain(
        'nothing shows that you started it',
      );
      const may = childEnvironment(store, trusting({ terminal_may_allow: true }));
      const permission = await question(store, { kind: 'permission', options: ['Allow', 'Deny'] });
      expect(await atFakedTerminal(may, how, 'respond', permission, 'Allow')).toContain(
        'nothing shows that you started it',
      );
      const poll = async (id: string) => (await shell(store).hive('poll', id)).code;
      expect([await poll(ask_id), await poll(permission)]).toEqual([3, 3]);
    },
  );

  test('a permission is allowed in Emacs only, unless the human lets their terminal allow it; it can be denied', async () => {
    const store = tempStore();
    const hive = await openTestHive(store);
    const asked = () => ask(hive, { kind: 'permission', options: ['Allow', 'Deny'] });
    const [{ ask_id }, second] = [await asked(), await asked()];
    const person = shell(store, { HOME: tempFolder() });
    const refused = await person.terminal(['respond', ask_id, 'Allow'], 'Type yes', 'yes');
    expect(refused).toMatchObject({ code: 7 });
    expect(refused.out).toContain('You can grant a permission only in Emacs; here you can only deny it.');
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
    const store = tempStore();
    const hive = await openTestHive(store);
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
    const store = tempStore();
    const hive = await openTestHive(store);
    const desk = await startSidecar(store);
    const { ask_id } = await ask(hive);
    await desk.request('hivemind-response', { ask_id, decision: 'no', by: 'Ada' });
    expect(await hive.prompts.get(ask_id)).toMatchObject({ decision: 'no', attested: true });
    const amended = await shell(store).hive('respond', '--amend', ask_id, 'yes', '--by', 'Ada');
    expect(amended.out).toBe(`Corrected ${ask_id} (unattested): yes\n`);
    expect(await hive.prompts.get(ask_id)).toMatchObject({ decision: 'yes', attested: false });
  });

  test('a yes typed at the terminal attests an answer, and anything else gives none', async () => {
    const store = tempStore();
    const ask_id = await question(store, { question: 'Deploy?', options: ['now', 'later'] });
    const person = shell(store, { HOME: tempFolder() });
    const declined = await person.terminal(['respond', ask_id, 'now'], 'Type yes', 'y');
    expect(declined).toMatchObject({ code: 7 });
    expect(declined.out).toContain('Not confirmed');
    const typed = await person.terminal(['respond', ask_id, 'now'], 'Type yes', 'yes');
    expect(typed).toMatchObject({ code: 0 });
    expect(typed.out).toContain('Deploy?');
    expect(typed.out).toContain('Options: now | later');
    expect((await person.hive('poll', ask_id, '--json')).json()).toMatchObject({
      decision: 'now',
      attested: true,
    });
  });
});
