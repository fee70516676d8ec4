/** The library: its example does what it says, docs/library.md has every call, and every public name says what it is. */
import { copyFileSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type AskRequest, HiveError, openHive } from '../../src/index.ts';
import {
  type Child,
  childEnvironment,
  outputOf,
  ROOT,
  readOutput,
  spawnChild,
  spawnHive,
} from '../support/children.ts';
import { answerRequests, seated } from '../support/coordinators.ts';
import { ask as askOf, openTestHive } from '../support/hive.ts';
import { beforeFile } from '../support/lifetime.ts';
import { tempFolder, tempStore } from '../support/temp.ts';
import { eventually } from '../support/wait.ts';
import { type Declared, readDeclarations } from './declarations.ts';
import { codeIn, readPage, tableUnder } from './support.ts';

describe('examples/library.mjs', () => {
  /** Where the package is installed, as a person would have it. */
  function installed(): { start: () => Child; env: Record<string, string> } {
    const folder = tempFolder();
    mkdirSync(join(folder, 'node_modules'));
    symlinkSync(ROOT, join(folder, 'node_modules/hive-sidecar'));
    copyFileSync(join(ROOT, 'examples/library.mjs'), join(folder, 'library.mjs'));
    const env = childEnvironment(join(folder, 'state', 'hive.db'));
    return { env, start: () => spawnChild(process.execPath, [join(folder, 'library.mjs'), '1.4.2'], env) };
  }

  /** The id that it prints once it has asked. */
  async function askedBy(child: Child): Promise<string> {
    const said = readOutput(child);
    const id = (): string | undefined => /^Asked.*: (ask-\w+)$/m.exec(said())?.[1];
    await eventually(() => id() !== undefined, 15_000, 'its question');
    return id() ?? '';
  }

  test('asks, is killed, is answered in the meantime, and deploys when it is started again', async () => {
    const { start, env } = installed();
    const first = start();
    const ask_id = await askedBy(first);
    await first.kill('SIGKILL');
    await outputOf(spawnHive(['respond', ask_id, 'yes'], { ...env, HIVE_USER: 'Ada' }));
    const said = await outputOf(start());
    expect(said).toBe(`Asked before: ${ask_id}\nDeploying 1.4.2, says Ada.\n`);
  });

  test('does not deploy what was refused', async () => {
    const { start, env } = installed();
    const running = start();
    const said = outputOf(running);
    await outputOf(spawnHive(['respond', await askedBy(running), 'no'], { ...env, HIVE_USER: 'Ada' }));
    expect(await said).toMatch(/\nNot deployed: Ada says no\.\n$/);
  });
});

let entries = new Map<string, Declared[]>();
beforeFile(async () => {
  entries = readDeclarations();
});

function membersOf(name: string): string[] {
  const found = [...entries.values()].flat().find((one) => one.name === name);
  return (found?.members ?? []).map((member) => member.name);
}

test.each([
  ['library.mjs', 0],
  ['agent-sdk-headless.mjs', 1],
])('examples/%s is quoted in docs/library.md without a change', (name, n) => {
  const programs = [...readPage('docs/library.md').matchAll(/^```js\n([\s\S]*?)^```$/gm)];
  const example = readFileSync(join(ROOT, 'examples', name), 'utf8');
  expect(example.slice(example.indexOf('import '))).toBe(programs[n]?.[1]);
});

describe('the public names', () => {
  test('are found, with their members', () => {
    expect([...entries.keys()]).toEqual(['.', './agent-sdk']);
    const names = [...entries.values()].flat().map(({ name }) => name);
    expect(names).toEqual(
      expect.arrayContaining(['openHive', 'HiveLibrary', 'Prompt', 'HiveError', 'AgentHive', 'CanUseTool']),
    );
    expect(membersOf('Prompt')).toEqual(expect.arrayContaining(['ask_id', 'context', 'carrier']));
  });

  test('say what they are, and so does each member of them', () => {
    const silent = [...entries.values()]
      .flat()
      .flatMap(({ name, documented, members }) => [
        ...(documented ? [] : [name]),
        ...members.filter((member) => !member.documented).map((member) => `${name}.${member.name}`),
      ]);
    expect(silent).toEqual([]);
  });
});

/** The codes in the row of a call. */
function toldOf(call: string): string[] {
  const row = tableUnder('docs/library.md', '## Errors').find(([calls = '']) => codeIn(calls).includes(call));
  return codeIn(row?.[1] ?? '');
}

test('what docs/library.md says of errors is what happens', async () => {
  const store = tempStore();
  const env = seated();
  const hive = await openHive({ agent: 'deployer', store, env });
  const other = await openHive({ agent: 'reviewer', store, env });
  // Its human lets it answer and interrupt.
  await hive.prompts.respond('ask-none', { decision: 'yes' }).catch(() => undefined);
  const desk = await openTestHive(store);
  await answerRequests(desk);
  try {
    const { prompts, turns } = hive;
    const ask = async (more: Partial<AskRequest> = {}): Promise<string> =>
      (await prompts.ask({ question: 'Go on?', options: ['yes', 'no'], ...more })).prompt.ask_id;
    const own = await ask({ idempotency_key: 'once' });
    const permission = (await other.prompts.ask({ question: 'May I?', kind: 'permission' })).prompt.ask_id;
    const ended = await other.turns.end((await other.turns.start()).turn_id);
    const theirs = await askOf(desk, { question: 'Which?', options: ['a'], allow_free_text: false });
    const refusals: [call: string, code: string, work: () => unknown][] = [
      ['openHive', 'invalid_input', () => openHive({ agent: 'human', store, env: {} })],
      ['ask', 'invalid_input', () => ask({ timeout_ms: 999 })],
      ['ask', 'invalid_input', () => ask({ question: 'x'.repeat(8_001) })],
      // A program in JavaScript is not checked by a compiler.
      ['ask', 'invalid_input', () => ask({ urgency: 'high' as 'critical' })],
      ['ask', 'invalid_input', () => ask({ kind: 'choice' as 'question' })],
      ['ask', 'invalid_input', () => ask({ when_turn_aborted: 'never' as 'stays' })],
      ['ask', 'human_not_found', () => ask({ to: 'Nobody' })],
      ['ask', 'idempotency_conflict', () => ask({ idempotency_key: 'once', question: 'Another?' })],
      ['onResponse', 'prompt_not_found', () => prompts.onResponse('ask-none', () => undefined)],
      ['get', 'prompt_not_found', () => prompts.get('ask-none')],
      ['poll', 'prompt_not_found', () => prompts.poll(['ask-none'])],
      ['list', 'invalid_input', () => prompts.list({ cursor: 'none' })],
      ['respond', 'prompt_not_found', () => prompts.respond('ask-none', { decision: 'yes' })],
      ['respond', 'not_allowed', () => prompts.respond(own, { decision: 'yes' })],
      ['respond', 'not_allowed', () => prompts.respond(permission, { decision: 'yes' })],
      ['respond', 'invalid_answer', () => prompts.respond(theirs.ask_id, { decision: 'b' })],
      ['cancel', 'prompt_not_found', () => prompts.cancel('ask-none')],
      ['cancel', 'not_allowed', () => prompts.cancel(theirs.ask_id)],
      ['end', 'turn_not_found', () => turns.end('turn-none')],
      ['end', 'not_allowed', () => turns.end(ended.turn_id)],
      ['interrupt', 'session_not_found', () => turns.interrupt('nobody')],
      ['interrupt', 'no_turn', () => turns.interrupt(other.session.handle)],
      ['interrupt', 'invalid_input', () => turns.interrupt(other.session.handle, { timeout_ms: 86_400_001 })],
      [
        'interrupt',
        'turn_not_current',
        () => turns.interrupt(other.session.handle, { turn_id: 'turn-none' }),
      ],
    ];
    for (const [call, code, work] of refusals) {
      const error = await Promise.resolve(work()).catch((reason: unknown) => reason);
      expect([call, error instanceof HiveError ? error.code : error]).toEqual([call, code]);
      expect(toldOf(call)).toContain(code);
    }
  } finally {
    await hive.close();
    await other.close();
  }
});

test('every call of the library and every field of a question is in docs/library.md', () => {
  const page = readPage('docs/library.md');
  const calls = [
    ...['HiveLibrary', 'LibraryPrompts', 'LibraryTurns', 'OpenOptions'],
    ...['AskRequest', 'AnswerRequest', 'PromptFilter', 'ProgramEnd'],
  ].flatMap(membersOf);
  expect(calls.length).toBeGreaterThan(50);
  expect(calls.filter((name) => !new RegExp(`\`[^\`]*\\b${name}\\b`).test(page))).toEqual([]);
});
