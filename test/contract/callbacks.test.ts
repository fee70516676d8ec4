/** Callbacks of the library: once, wherever the answer comes from, also after a restart. */
import { describe, expect, it, onTestFinished } from 'vitest';
import { type HiveLibrary, openHive, type Prompt } from '../../src/index.ts';
import { HUMAN, openTestHive, recordingLog } from '../support/hive.ts';
import { closedAtEnd } from '../support/lifetime.ts';
import { tempStore } from '../support/temp.ts';
import { eventually } from '../support/wait.ts';

async function library(store: string, agent = 'program', log = recordingLog()): Promise<HiveLibrary> {
  return closedAtEnd(await openHive({ store, agent, env: {}, log }));
}

function recorder(): { calls: Prompt[]; onResponse: (prompt: Prompt) => void } {
  const calls: Prompt[] = [];
  return { calls, onResponse: (prompt) => void calls.push(prompt) };
}

/** Waits until the program knows all that happened so far: it has been told the outcome of a further question. */
async function heard(program: HiveLibrary): Promise<void> {
  const { calls, onResponse } = recorder();
  const { prompt } = await program.prompts.ask({ question: 'Heard?' }, { onResponse });
  await program.prompts.cancel(prompt.ask_id);
  await eventually(() => calls.length > 0);
}

/** A program whose question another process has answered. */
async function answered() {
  const store = tempStore();
  const [program, desk] = [await library(store), await openTestHive(store)];
  const { calls, onResponse } = recorder();
  const { ask_id } = (await program.prompts.ask({ question: 'Go?' }, { onResponse })).prompt;
  await desk.prompts.respond({ ask_id, decision: 'yes', actor: HUMAN });
  return { program, desk, calls, ask_id };
}

describe('onResponse', () => {
  it('is called once, with an answer that another process gave', async () => {
    const { program, desk, calls, ask_id } = await answered();
    await eventually(() => calls.length > 0);
    expect(calls).toMatchObject([{ status: 'responded', decision: 'yes', by: 'ada' }]);
    await desk.prompts.mark(ask_id, 'seen');
    await heard(program);
    expect(calls).toHaveLength(1);
  });

  it('hands the answer over, and has it collected once the callback returned', async () => {
    const { desk, calls, ask_id } = await answered();
    await eventually(async () => (await desk.prompts.get(ask_id)).collected_at !== null);
    expect(calls[0]?.handed_at).toEqual(expect.any(String));
  });

  it('is called after a restart, at once when the answer is there', async () => {
    const store = tempStore();
    const first = await library(store);
    const { prompt } = await first.prompts.ask({ question: 'Go?' }, { onResponse: () => undefined });
    await first.close();
    const desk = await openTestHive(store);
    await desk.prompts.respond({ ask_id: prompt.ask_id, decision: 'yes', actor: HUMAN });
    const again = await library(store);
    expect(again.session.session_id).toBe(first.session.session_id);
    const { calls, onResponse } = recorder();
    await again.prompts.onResponse(prompt.ask_id, onResponse);
    expect(calls).toMatchObject([{ decision: 'yes' }]);
  });

  it('is called in each process that registered it', async () => {
    const store = tempStore();
    const [a, b] = [await library(store), await library(store)];
    const [seenA, seenB] = [recorder(), recorder()];
    const { prompt } = await a.prompts.ask({ question: 'Go?' }, seenA);
    await b.prompts.onResponse(prompt.ask_id, seenB.onResponse);
    const desk = await openTestHive(store);
    await desk.prompts.respond({ ask_id: prompt.ask_id, decision: 'yes', actor: HUMAN });
    await eventually(() => seenA.calls.length + seenB.calls.length === 2);
    expect([seenA.calls.length, seenB.calls.length]).toEqual([1, 1]);
  });

  it('is called for an expiry and for a cancel, which carry no decision', async () => {
    const program = await library(tempStore());
    const { calls, onResponse } = recorder();
    await program.prompts.ask({ question: 'Quick?', timeout_ms: 1_000 }, { onResponse });
    const { prompt } = await program.prompts.ask({ question: 'Go?' }, { onResponse });
    await program.prompts.cancel(prompt.ask_id);
    await eventually(() => calls.length === 2);
    expect(calls.map(({ status, decision }) => [status, decision])).toEqual([
      ['cancelled', null],
      ['expired', null],
    ]);
  });

  it('serves many questions at once, each with its own answer', async () => {
    const store = tempStore();
    const program = await library(store);
    const desk = await openTestHive(store);
    const answers = new Map<string, string | null>();
    for (let n = 0; n < 50; n += 1) {
      const onResponse = ({ ask_id, decision }: Prompt): void => void answers.set(ask_id, decision);
      await program.prompts.ask({ question: `Question ${n}?` }, { onResponse });
    }
    const { items } = await program.prompts.list();
    for (const { ask_id } of items) await desk.prompts.respond({ ask_id, decision: ask_id, actor: HUMAN });
    await eventually(() => answers.size === 50);
    expect([...answers].every(([ask_id, decision]) => ask_id === decision)).toBe(true);
  });

  it('that fails leaves the answer uncollected, and the others still run', async () => {
    const store = tempStore();
    const log = recordingLog();
    const program = await library(store, 'program', log);
    const { calls, onResponse } = recorder();
    const failing = (): Promise<void> => Promise.reject(new Error('no'));
    const { prompt } = await program.prompts.ask({ question: 'Go?' }, { onResponse: failing });
    const { prompt: other } = await program.prompts.ask({ question: 'Go?' }, { onResponse });
    const desk = await openTestHive(store);
    for (const { ask_id } of [prompt, other])
      await desk.prompts.respond({ ask_id, decision: 'yes', actor: HUMAN });
    await eventually(() => calls.length === 1 && log.lines.length === 1);
    expect((await desk.prompts.get(prompt.ask_id)).collected_at).toBeNull();
    expect(log.lines[0]).toContain('A callback failed');
  });

  it('can be removed, and is refused for a prompt that does not exist', async () => {
    const program = await library(tempStore());
    const { calls, onResponse } = recorder();
    const { prompt } = await program.prompts.ask({ question: 'Go?' });
    (await program.prompts.onResponse(prompt.ask_id, onResponse))();
    await program.prompts.cancel(prompt.ask_id);
    await heard(program);
    expect(calls).toEqual([]);
    await expect(program.prompts.onResponse('ask-unknown', onResponse)).rejects.toThrow(
      'There is no question',
    );
  });
});

describe('the library', () => {
  it('polls, and counts what it returned as handed over', async () => {
    const store = tempStore();
    const program = await library(store);
    const { prompt } = await program.prompts.ask({ question: 'Go?' });
    expect(await program.prompts.poll([prompt.ask_id])).toMatchObject([{ prompt: { status: 'pending' } }]);
    const polling = program.prompts.poll([prompt.ask_id], { wait_ms: 5_000 });
    const desk = await openTestHive(store);
    await desk.prompts.respond({ ask_id: prompt.ask_id, decision: 'yes', actor: HUMAN });
    expect(await polling).toMatchObject([{ repeated: false, prompt: { decision: 'yes' } }]);
    await program.prompts.poll([prompt.ask_id]);
    expect((await program.prompts.get(prompt.ask_id)).collected_at).toEqual(expect.any(String));
  });

  it('answers nothing as an agent that its human has not let coordinate: the human is asked for that first', async () => {
    const store = tempStore();
    const [asker, other] = [await library(store, 'asker'), await library(store, 'other')];
    const { prompt } = await asker.prompts.ask({ question: 'Go?' });
    const refusal = /^Only a coordinator does this\. Your human was asked whether you may be one/;
    for (const agent of [asker, other])
      await expect(agent.prompts.respond(prompt.ask_id, { decision: 'yes' })).rejects.toThrow(refusal);
    expect((await asker.prompts.get(prompt.ask_id)).status).toBe('pending');
  });

  it('is the session of the agent that it runs under, unless it has a name of its own', async () => {
    const store = tempStore();
    const env = { CLAUDE_CODE_SESSION_ID: 'c1' };
    const part = await openHive({ store, env, log: recordingLog() });
    const own = await openHive({ store, env, agent: 'deployer', log: recordingLog() });
    onTestFinished(() => part.close());
    onTestFinished(() => own.close());
    expect(part.session).toMatchObject({ session_id: 'c1', client: 'claude-code', pid: null });
    expect(own.session).toMatchObject({ session_id: 'deployer', parent_session_id: 'c1' });
  });
});
