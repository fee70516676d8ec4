/** Interrupts, TurnAborted and its reason, requirement by requirement. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { OpenedHive } from '../../src/open-hive.ts';
import { childEnvironment, outputOf, ROOT, spawnHive } from '../support/children.ts';
import { type Shell, shell } from '../support/cli.ts';
import { ask, introduce, openTestHive } from '../support/hive.ts';
import { beforeFile } from '../support/lifetime.ts';
import { type Frame, isTold, RpcError, type Sidecar, startSidecar } from '../support/sidecar.ts';
import { tempFolder } from '../support/temp.ts';
import { eventually } from '../support/wait.ts';
import { type Agent, type Loose, startAgent } from './support/agents.ts';
import { type Editor, startEditor } from './support/editor.ts';
import { everyRequirementOf, requirement } from './support/requirement.ts';

let store: string;
let emacs: Editor;
let abc: Agent;
let coordinator: Agent;
let desk: Sidecar;
let human: Shell;
/** A program that reports its turns itself. */
let program: OpenedHive;

beforeFile(async () => {
  emacs = await startEditor();
  store = emacs.store;
  human = shell(store);
  program = await openTestHive(store);
  [abc, coordinator, desk] = await Promise.all([
    startAgent(store, 'abc12-session'),
    startAgent(store, 'coord-session', { coordinates: true }),
    startSidecar(store),
  ]);
});

const SESSION = 'abc12-session';
let turns = 0;

/** A turn of the agent, as its hooks report it. */
interface Work {
  /** A tool is about to run: where a turn that is to stop ends. */
  tool(): Promise<Loose>;
  /** It ends by itself. */
  stop(): Promise<Loose>;
  say(name: string, fields?: object): Promise<Loose>;
}

async function begin(more: object = {}): Promise<Work> {
  turns += 1;
  const prompt_id = `prompt-${turns}`;
  const say = (name: string, fields: object = {}): Promise<Loose> =>
    abc.hook(name, { prompt_id, ...more, ...fields });
  await say('UserPromptSubmit', { prompt: 'go' });
  const tool = { tool_name: 'Bash', tool_input: { command: 'ls' } };
  return {
    say,
    tool: () => say('PreToolUse', { ...tool, tool_use_id: `toolu_${turns}` }),
    stop: () => say('Stop', { stop_hook_active: false, background_tasks: [] }),
  };
}

/** The newest turn of the agent, as the list of sessions shows it. */
async function turn(session_id = SESSION): Promise<Loose> {
  const { sessions } = await desk.request('session/list', { state: 'all' });
  return sessions.find((one: Loose) => one.session_id === session_id)?.turn;
}

/** Waits until this many requests for its end are on disk. */
async function requested(count = 1, session_id = SESSION): Promise<void> {
  const pending = async (): Promise<number> =>
    (await turn(session_id)).interrupts.filter(({ state }: Loose) => state === 'pending').length;
  await eventually(async () => (await pending()) === count, 10_000, 'the requests');
}

const interrupt = (more: object = {}): Promise<Loose> =>
  desk.request('turn/interrupt', { session_id: SESSION, by: 'Ada', ...more });
const aborted = (frame: Frame): boolean => isTold('turn/changed', ({ state }) => state === 'aborted')(frame);
/** Frames that come from here on. */
const since = (): (() => readonly Frame[]) => {
  const from = desk.frames.length;
  return () => desk.frames.slice(from);
};

/** An interrupt that is answered: the turn has ended at its next tool. */
async function interrupted(work: Work, more: object = {}): Promise<{ reply: Loose; printed: Loose }> {
  const reply = interrupt(more);
  await requested();
  const printed = await work.tool();
  return { reply: await reply, printed };
}

/** The notifications of a turn whose program begins another. */
async function displaced(session_id: string): Promise<Loose> {
  await introduce(program, session_id);
  const first = await program.turns.start({ session_id });
  const second = await program.turns.start({ session_id });
  expect(await turn(session_id)).toMatchObject({ turn_id: second.turn_id, state: 'in_progress' });
  const { params } = await desk.seen(
    isTold('turn/changed', ({ turn_id, state }) => turn_id === first.turn_id && state === 'aborted'),
  );
  return params;
}

/** Fires these events beside the recorded file of the client that fired them: its first turn was replaced by its second. */
async function replayed(
  client: 'claude-code' | 'codex',
  recorded: string,
  id: (n: number) => string,
  events: readonly object[],
): Promise<void> {
  const session_id = `${client}-${turns}`;
  const transcript_path = join(tempFolder(), 'record.jsonl');
  writeFileSync(transcript_path, readFileSync(join(ROOT, 'test/wire/fixtures', `${recorded}.jsonl`)));
  for (const event of events) {
    const child = spawnHive(['hook', '--client', client], childEnvironment(store));
    const printed = outputOf(child);
    child.process.stdin.end(JSON.stringify({ session_id, transcript_path, cwd: '/', ...event }));
    await printed;
  }
  const { params } = await desk.seen(
    isTold('turn/changed', (params) => params.session_id === session_id && params.state === 'aborted'),
  );
  expect(params).toMatchObject({ client_turn_id: id(1), abort_reason: 'replaced' });
  expect(await turn(session_id)).toMatchObject({ client_turn_id: id(2), state: 'in_progress' });
}

/** A permission that waits at the desk, and what the hook prints once it is over. */
async function permission(
  work: Work,
  tool_name: string,
  tool_input: object,
): Promise<{ prompt: Loose; printed: Promise<Loose> }> {
  const frames = since();
  const printed = work.say('PermissionRequest', { tool_name, tool_input });
  const asked = isTold('hivemind-ask', ({ kind }) => kind === 'permission');
  const { params } = await desk.seen((frame) => asked(frame) && frames().includes(frame));
  return { prompt: params, printed };
}
let answers = 0;
const answer = (ask_id: string, decision: string): Promise<Loose> => {
  answers += 1;
  return desk.request('hivemind-response', {
    ask_id,
    decision,
    by: 'Ada',
    response_id: `response-${answers}`,
  });
};

requirement(
  [
    '002-01 An interrupt ends the turn with an event that carries the reason',
    '002-16 The agent’s own terminal shows that the turn was interrupted',
  ],
  async () => {
    const frames = since();
    const { reply, printed } = await interrupted(await begin(), { note: 'wrong branch' });
    const told = frames()
      .filter(aborted)
      .map(({ params }) => params);
    expect(told.find(({ turn_id }) => turn_id === reply.turn_id)).toMatchObject({
      abort_reason: 'interrupted',
    });
    expect(printed).toMatchObject({
      continue: false,
      stopReason: 'Interrupted by Ada. Note: wrong branch',
      hookSpecificOutput: { permissionDecision: 'deny' },
    });
    const { out } = await human.hive('store', 'log');
    expect(out).toMatch(new RegExp(`turn/changed[^\\n]*${reply.turn_id}`));
  },
);

requirement('002-02 The reason is a word of a fixed list', async () => {
  const reasons: string[] = [(await interrupted(await begin())).reply.abort_reason];
  await introduce(program, 'reasons');
  for (const aborted of ['replaced', 'ended', 'unknown'] as const) {
    const { turn_id } = await program.turns.start({ session_id: 'reasons' });
    reasons.push((await program.turns.end(turn_id, { aborted })).abort_reason ?? '');
  }
  expect(reasons).toEqual(['interrupted', 'replaced', 'ended', 'unknown']);
});

requirement(
  [
    '002-03 A turn that a new prompt displaces is aborted as replaced',
    '002-15 People read that the task was replaced by a new one',
  ],
  async () => {
    // A prompt that is sent now, while Claude Code's model thinks; a review that Codex is asked for while it works.
    const claude = (n: number): string => `9a0e9700-0000-4000-8000-00000000000${n}`;
    const codex = (n: number): string => `00000000-0000-7000-8000-00000000000${n}`;
    const tool = { tool_name: 'Bash', tool_input: {}, tool_use_id: 't' };
    const first = { hook_event_name: 'UserPromptSubmit', prompt: 'first words' };
    turns += 1;
    await replayed('claude-code', 'claude-code/transcripts/send-now-thinking', claude, [
      { ...first, prompt_id: claude(1) },
      { ...first, prompt: 'second words', prompt_id: claude(1) },
      { ...tool, hook_event_name: 'PreToolUse', prompt_id: claude(2) },
    ]);
    await replayed('codex', 'codex/rollout-replaced', (n) => codex(n + 1), [
      { ...first, turn_id: codex(2) },
      { ...first, prompt: 'Review it.', turn_id: codex(3) },
    ]);
    expect(await displaced('replacer')).toMatchObject({
      abort_reason: 'replaced',
      sentence: 'task aborted: replaced by a new task',
    });
  },
);

requirement('002-04 An interrupt clears the permission that waits', async () => {
  const work = await begin();
  const { prompt, printed } = await permission(work, 'WebFetch', { url: 'https://example.org' });
  const { outcome, cancelled_prompts } = await interrupt();
  expect(outcome).toBe('aborted');
  expect(cancelled_prompts).toEqual([prompt.ask_id]);
  expect((await printed).hookSpecificOutput.decision).toMatchObject({ behavior: 'deny', interrupt: true });
  const after = await desk.request('prompt/get', { ask_id: prompt.ask_id });
  expect(after.prompt).toMatchObject({ status: 'cancelled', cancel_reason: 'interrupted', decision: null });
});

requirement('002-05 An interrupt clears the questions that wait', async () => {
  const work = await begin();
  const asked = await abc.use('hivemind_ask_async', { question: 'Red?', urgency: 'low' });
  const { reply } = await interrupted(work);
  expect(reply.cancelled_prompts).toEqual([asked.ask_id]);
  const { prompt } = await desk.request('prompt/get', { ask_id: asked.ask_id });
  expect(prompt).toMatchObject({ status: 'cancelled', cancel_reason: 'interrupted', decision: null });

  const session_id = 'asker';
  await introduce(program, session_id);
  await program.turns.start({ session_id });
  const bound = await ask(
    program,
    { question: 'Bound?', when_turn_aborted: 'cancelled', urgency: 'low' },
    session_id,
  );
  const kept = await ask(program, { question: 'Kept?', urgency: 'low' }, session_id);
  await program.turns.start({ session_id });
  const status = async (ask_id: string): Promise<string> =>
    (await desk.request('prompt/get', { ask_id })).prompt.status;
  expect([await status(bound.ask_id), await status(kept.ask_id)]).toEqual(['cancelled', 'pending']);
});

requirement(
  [
    '002-06 Aborting a permission to run a command interrupts the turn',
    '002-07 So does aborting a permission to edit a file',
  ],
  async () => {
    const edit = { file_path: '/demo/a.ts', old_string: 'a', new_string: 'b' };
    for (const [tool, input] of [
      ['Bash', { command: 'npm test' }],
      ['Edit', edit],
    ] as const) {
      const { prompt, printed } = await permission(await begin(), tool, input);
      await answer(prompt.ask_id, 'Abort');
      const { decision } = (await printed).hookSpecificOutput;
      expect(decision).toMatchObject({ behavior: 'deny', interrupt: true });
      expect(await turn()).toMatchObject({ state: 'aborted', abort_reason: 'interrupted', by: 'Ada' });
    }
  },
);

requirement('002-08 Every way to interrupt an agent leads to the same interrupt', async () => {
  const ways: [string, () => Promise<unknown>][] = [
    ['emacs', () => interrupt()],
    ['mcp', () => coordinator.use('hivemind_interrupt', { session: abc.handle })],
    ['cli', () => human.hive('interrupt', abc.handle)],
    ['emacs', () => typed()],
  ];
  for (const [via, way] of ways) {
    const work = await begin();
    const done = way();
    await requested();
    expect((await work.tool()).continue).toBe(false);
    await done;
    expect(await turn()).toMatchObject({ state: 'aborted', abort_reason: 'interrupted', via });
  }
});

/** As a person does in Emacs. */
async function typed(): Promise<void> {
  await emacs.calm();
  const known = `(seq-some (lambda (turn) (equal (plist-get turn :session_id) "${SESSION}")) (hive-turns-running))`;
  await eventually(async () => (await emacs.evaluate(known)) === 't', 10_000, 'the turn in Emacs');
  await emacs.command('hive-interrupt');
  await emacs.reply(/^Interrupt:$/m, await abc.title());
  await emacs.press(/Reason for .* \(RET for none\)/, 'Enter');
  await emacs.said(new RegExp(`${await abc.title()}: task interrupted by`));
}

requirement(
  [
    '002-09 The reply to an interrupt waits until the turn has ended',
    '002-13 Any number of requests can wait for one turn, and all are answered',
    '002-18 An interrupt is an outcome and no error',
  ],
  async () => {
    const frames = since();
    const work = await begin();
    let replies = 0;
    const asked = [
      ...[interrupt(), interrupt(), interrupt({ by: 'Grace' })],
      coordinator.use('hivemind_interrupt', { session: abc.handle }),
    ];
    for (const reply of asked) void reply.then(() => (replies += 1));
    const { done } = human.start('interrupt', abc.handle);
    await requested(5);
    // Other requests are answered in the meantime.
    await desk.request('prompt/list', {});
    await coordinator.use('hivemind_status');
    expect(replies).toBe(0);
    await work.tool();
    const all: Loose[] = await Promise.all(asked);
    expect(new Set(all.map(({ interrupt_id }) => interrupt_id)).size).toBe(4);
    for (const reply of all) expect(reply).toMatchObject({ outcome: 'aborted', abort_reason: 'interrupted' });
    expect(await done).toMatchObject({ code: 0 });
    expect((await turn()).interrupts.map(({ state }: Loose) => state)).toEqual(Array(5).fill('answered'));
    expect(frames().filter(({ error }) => error !== undefined)).toEqual([]);
  },
);

requirement('002-10 The reply comes after the event that the turn has ended', async () => {
  for (let trial = 0; trial < 6; trial += 1) {
    const frames = since();
    const { reply } = await interrupted(await begin());
    const came = frames();
    const replied = came.findIndex(({ result }) => result?.interrupt_id === reply.interrupt_id);
    const told = came.slice(0, replied).filter(aborted);
    expect(told.map(({ params }) => params.turn_id)).toContain(reply.turn_id);
  }
});

requirement('002-11 An interrupt over MCP is not answered at once', async () => {
  const work = await begin();
  const { outcome, interrupt_id } = await coordinator.use('hivemind_interrupt', {
    session: abc.handle,
    wait_ms: 300,
  });
  expect(outcome).toBe('unconfirmed');
  const again = coordinator.use('hivemind_interrupt', { session: abc.handle, interrupt_id });
  await requested();
  await work.tool();
  expect(await again).toMatchObject({ interrupt_id, outcome: 'aborted', abort_reason: 'interrupted' });
});

requirement(
  ['002-12 The reply names the reason', '002-14 People read that the task was interrupted'],
  async () => {
    const { reply } = await interrupted(await begin());
    expect(reply).toMatchObject({ outcome: 'aborted', abort_reason: 'interrupted' });
    expect(reply).not.toHaveProperty('abortReason');
    expect(reply.sentence).toBe('task interrupted by Ada');
    const fromShell = async (...more: string[]): Promise<string> => {
      const work = await begin();
      const { done } = human.as({ HIVE_USER: 'Grace' }).start('interrupt', abc.handle, ...more);
      await requested();
      await work.tool();
      return (await done).out;
    };
    const told = JSON.parse(await fromShell('--json'));
    expect(told).toMatchObject({ outcome: 'aborted', abort_reason: 'interrupted' });
    expect(await fromShell()).toBe(`${await abc.title()}: task interrupted by Grace\n`);
  },
);

requirement('002-17 Everyone who watches the turn is told in words that it was aborted', async () => {
  const work = await begin();
  const asked = coordinator.use('hivemind_interrupt', { session: abc.handle, note: 'wrong branch' });
  await requested();
  await work.tool();
  expect((await asked).next).toBe(`task interrupted by ${coordinator.handle}.`);
  await emacs.calm();
  await emacs.command('hive-sessions');
  const line = new RegExp(`Claude-abc12[^\\n]*task interrupted by ${coordinator.handle}`);
  await eventually(async () => line.test(await emacs.text('*hive*')), 10_000, 'the line of the agent');
  const { say, stop } = await nextTold();
  expect(say).toContain(`Your last turn was interrupted by ${coordinator.handle}`);
  expect(say).toContain('wrong branch');
  await stop();
});

/** The text that the agent reads with its next prompt. */
async function nextTold(): Promise<{ say: string; stop(): Promise<Loose> }> {
  turns += 1;
  const prompt_id = `prompt-${turns}`;
  const { hookSpecificOutput } = await abc.hook('UserPromptSubmit', { prompt: 'go on', prompt_id });
  return { say: hookSpecificOutput?.additionalContext ?? '', stop: () => abc.hook('Stop', { prompt_id }) };
}

requirement('002-19 A session that goes away aborts its turn', async () => {
  const other = await startAgent(store, 'leaves');
  await other.hook('SessionStart', { source: 'startup' });
  await other.hook('UserPromptSubmit', { prompt: 'go' });
  const { ask_id } = await other.use('hivemind_ask_async', { question: 'Still there?', urgency: 'low' });
  await other.hook('SessionEnd', { reason: 'other' });
  expect(await turn('leaves')).toMatchObject({ state: 'aborted', abort_reason: 'ended' });
  const { prompt } = await desk.request('prompt/get', { ask_id });
  expect(prompt).toMatchObject({ status: 'pending', orphaned: true });
  expect((await answer(ask_id, 'yes')).accepted).toBe(true);
});

requirement('002-20 One event does not keep others from being told', async () => {
  const work = await begin();
  const { ask_id } = await abc.use('hivemind_ask_async', { question: 'Blue?', urgency: 'low' });
  const frames = since();
  const posted = coordinator.use('hivemind_post', { body: 'Nothing special.' });
  const { reply } = await interrupted(work);
  await posted;
  const told = (method: string, test: (params: Loose) => boolean): Promise<Frame> =>
    desk.seen((frame) => frames().includes(frame) && isTold(method, test)(frame));
  await told('turn/changed', ({ turn_id, state }) => turn_id === reply.turn_id && state === 'aborted');
  await told('prompt/changed', (prompt) => prompt.ask_id === ask_id && prompt.status === 'cancelled');
  await told('message/posted', ({ body }) => body === 'Nothing special.');
});

requirement('002-21 The protocol’s description says that an interrupt ends in the event', () => {
  const page = (name: string): string => readFileSync(join(ROOT, 'docs', name), 'utf8');
  const wire = page('internals/protocol.md');
  for (const name of ['turn/interrupt', 'turn/interrupt_all', 'turn/cancel_interrupt', 'turn/changed'])
    expect(wire).toMatch(new RegExp(`^### ${name}$`, 'm'));
  for (const reason of ['interrupted', 'replaced', 'ended', 'unknown'])
    expect(page('turns.md')).toMatch(new RegExp(`^\\| \`${reason}\` \\|`, 'm'));
  expect(page('turns.md')).toContain('the reply comes last');
});

requirement('002-22 A client can wait for the event instead of the reply', async () => {
  const work = await begin();
  const { turn_id } = await turn();
  const interrupt_id = `interrupt-${turns}`;
  const reply = interrupt({ interrupt_id });
  await requested();
  await work.tool();
  const { params } = await desk.seen(
    isTold('turn/changed', (params) => params.turn_id === turn_id && params.state === 'aborted'),
  );
  expect(params.interrupts).toMatchObject([
    { interrupt_id, state: 'answered', outcome: 'aborted', sentence: 'task interrupted by Ada' },
  ]);
  await reply;
});

requirement('002-23 An interrupt of an agent that runs nothing is answered at once', async () => {
  const { reply } = await interrupted(await begin());
  const refused = await interrupt().catch((error: unknown) => error as RpcError);
  expect(refused).toBeInstanceOf(RpcError);
  expect(refused.data).toMatchObject({ code: 'no_turn' });
  expect((await human.hive('interrupt', abc.handle)).code).toBe(1);
  await expect(coordinator.use('hivemind_interrupt', { session: abc.handle })).rejects.toThrow(/no_turn/);
  // A turn that was interrupted before: its outcome is kept.
  expect(await interrupt({ turn_id: reply.turn_id })).toMatchObject({
    turn_id: reply.turn_id,
    outcome: 'aborted',
    abort_reason: 'interrupted',
  });
});

requirement('002-24 A turn that ends by itself first is completed, and the interrupt says so', async () => {
  const work = await begin();
  const reply = interrupt();
  await requested();
  await work.stop();
  expect(await reply).toMatchObject({
    outcome: 'completed',
    abort_reason: null,
    sentence: 'task completed before the interrupt reached it',
  });
  expect(await turn()).toMatchObject({ state: 'completed' });
});

everyRequirementOf('002', 24);
