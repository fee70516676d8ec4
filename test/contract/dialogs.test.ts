/**
 * A dialog is open at the desks and where its client shows it, whichever carrier brings it: the first answer wins, and what leaves as
 * an allow was displayed and signed.
 *
 * @module-tag one-winner
 * @module-tag as-displayed
 * @module-tag silence
 * @module-tag sqlite
 * @module-tag emacs
 * @module-tag acp
 * @module-tag hook
 */
import { beforeEach, describe, expect, test } from 'vitest';
import { type OpenedHive, openHive } from '../../src/open-hive.ts';
import { CARRIERS, type DialogAgent } from '../support/dialog-carriers.ts';
import { answerDialog, forge } from '../support/dialogs.ts';
import {
  eventsOf,
  noticesOf,
  openRuledHive,
  openTestHive,
  pendingOf,
  setQuotas,
  untilPending,
  withoutQuotas,
} from '../support/hive.ts';
import { withRules } from '../support/hooks.ts';
import { trusting } from '../support/human-file.ts';
import { whenFinished } from '../support/lifetime.ts';
import { spendQuota } from '../support/quotas.ts';
import { tempStore } from '../support/temp.ts';
import { eventually, lots, moment } from '../support/wait.ts';

const RACES = 10;

describe.each(CARRIERS)('a permission over $name', ({ begin, tool }) => {
  let store: string;
  let hive: OpenedHive;
  let agent: DialogAgent;
  beforeEach(async () => {
    store = tempStore();
    hive = await withoutQuotas(await openTestHive(store));
    agent = await begin(hive);
  });

  /** Lets the agent ask; resolves once a desk shows it. */
  async function asked(command = 'make'): Promise<{ ask_id: string; outcome: Promise<unknown> }> {
    const { outcome } = await agent.ask(command);
    const [prompt] = await untilPending(hive);
    return { ask_id: prompt?.ask_id ?? '', outcome };
  }

  test('blocks its agent, and shows what would run', async () => {
    const { ask_id } = await asked('make all');
    const prompt = await hive.prompts.get(ask_id);
    const [question, context] = agent.shown?.('make all') ?? ['Run make all?', '    make all\n'];
    expect(prompt).toMatchObject({ kind: 'permission', dialog: true, question });
    expect(prompt.blocked_since).not.toBeNull();
    expect(prompt.context).toContain(context);
  });

  test('allowed at a desk, it is allowed, and the receipt says that this was handed over', async () => {
    const { ask_id, outcome } = await asked();
    await answerDialog(hive, ask_id, agent.labels.allow);
    expect(await outcome).toBe('allowed');
    expect((await hive.prompts.get(ask_id)).handed_at).not.toBeNull();
    expect(await pendingOf(hive)).toEqual([]);
  });

  test('refused at a desk, it is refused', async () => {
    const { ask_id, outcome } = await asked();
    await answerDialog(hive, ask_id, agent.labels.refuse);
    expect(await outcome).toBe('refused');
  });

  test('free text allows nothing: it is a refusal, or not accepted where the agent takes no words', async () => {
    const { ask_id, outcome } = await asked();
    await answerDialog(hive, ask_id, 'Allow it, I am sure.').catch(async (error: unknown) => {
      expect(String(error)).toContain('free text is off');
      await answerDialog(hive, ask_id, agent.labels.refuse);
    });
    expect(await outcome).toBe('refused');
  });

  test('answered where its client shows it, it is withdrawn, and a desk that comes later is refused', async () => {
    const { ask_id } = await asked();
    await agent.allowThere();
    await untilPending(hive, 0);
    expect(await hive.prompts.get(ask_id)).toMatchObject({
      status: 'cancelled',
      cancel_reason: 'answered_elsewhere',
      decision: null,
    });
    await answerDialog(hive, ask_id, agent.labels.refuse).catch(() => undefined);
    expect(await hive.prompts.get(ask_id)).toMatchObject({ status: 'cancelled', decision: null });
  });

  test('an allow that no seat signed is refused, and the human is told', async () => {
    const { ask_id, outcome } = await asked();
    const other = await openHive({ store, env: trusting({}) });
    whenFinished(() => other.close());
    await answerDialog(other, ask_id, agent.labels.allow);
    expect(await outcome).toBe('refused');
    expect(await noticesOf(hive)).toContainEqual(expect.stringContaining('allowed nothing: no seat'));
  });

  test.each(['context', 'question', 'fingerprint'])(
    'an allow of a prompt whose %s somebody has changed is refused, or left to its client, and the human is told',
    async (column) => {
      const { ask_id, outcome } = await asked('rm -rf ~');
      forge(store, ask_id, column, 'make');
      await answerDialog(hive, ask_id, agent.labels.allow);
      const isLeft = agent.leaves === column;
      if (!isLeft) expect(await outcome).toBe('refused');
      const told = isLeft ? 'still open there' : `${ask_id} does not show`;
      await eventually(async () => (await noticesOf(hive)).some((text) => text.includes(told)));
    },
  );

  test('that a rule of the human refuses is refused at once, and the rule is its author', async () => {
    const rule = { decision: 'deny', tool, input: '*rm -rf*', note: 'Never.', name: 'mine' };
    const own = await openRuledHive(rule);
    const ruled = await begin(own, withRules(rule));
    const { outcome } = await ruled.ask('rm -rf build');
    expect(await outcome).toBe('refused');
    const { items } = await own.prompts.list({ status: 'responded', limit: 5 });
    expect(items).toMatchObject([{ via: 'rule', by: 'mine', comment: 'Never.' }]);
  });

  test('beyond a quota only its client shows it', async () => {
    await asked();
    await setQuotas(hive, true);
    const [asking] = await pendingOf(hive);
    await spendQuota(hive, 'quota_questions', asking?.session_id ?? '');
    await agent.ask('make more');
    await eventually(async () =>
      (await noticesOf(hive)).some((text) => /open questions|too many|quota/i.test(text)),
    );
    expect(await pendingOf(hive)).toHaveLength(1);
  });

  test(`if a desk and the client answer at once, exactly one wins: ${RACES} races`, async () => {
    const draw = lots(20_261_127);
    for (let race = 0; race < RACES; race += 1) {
      const { ask_id } = await asked(`make ${race}`);
      const [first, second] = [draw() * 4, draw() * 4];
      const desk = moment(first).then(() =>
        answerDialog(hive, ask_id, agent.labels.refuse).catch(() => ({ outcome: 'refused' })),
      );
      await moment(second);
      await agent.allowThere();
      const { outcome } = await desk;
      await eventually(async () => (await hive.prompts.get(ask_id)).status !== 'pending');
      const won = outcome === 'accepted';
      expect(await hive.prompts.get(ask_id)).toMatchObject(
        won
          ? { status: 'responded', decision: agent.labels.refuse }
          : { status: 'cancelled', cancel_reason: 'answered_elsewhere', decision: null },
      );
      const ends = await eventsOf(hive, 'prompt/responded', 'prompt/cancelled');
      expect(ends.filter(({ subject }) => subject === ask_id).map(({ type }) => type)).toEqual([
        won ? 'prompt/responded' : 'prompt/cancelled',
      ]);
    }
  });
});
