/** Races of a desk and an editor for the same question of an agent that speaks ACP. */
import { expect } from 'vitest';
import type { OpenedHive } from '../../src/open-hive.ts';
import { beginAcp, permission, selected } from './acp.ts';
import { answerDialog } from './dialogs.ts';
import { untilPending } from './hive.ts';
import { lots, moment } from './wait.ts';

export const RACES = 200;

/** Exactly one of the two wins each race, and the other is told. */
export async function raceDeskAndEditor(hive: OpenedHive, seed: number): Promise<void> {
  const { client, agent, remarks } = await beginAcp(hive);
  const draw = lots(seed);
  const winners = { desk: 0, editor: 0 };
  for (let id = 100; id < 100 + RACES; id += 1) {
    agent.send(permission(id));
    const [prompt] = await untilPending(hive);
    const [first, second] = [draw() * 4, draw() * 4];
    const desk = moment(first).then(() => answerDialog(hive, prompt?.ask_id ?? '', 'Allow'));
    await moment(second);
    client.send({ id, result: selected('no') });
    await desk;
    const answer = await agent.until((message) => message.id === id);
    const { status, cancel_reason } = await hive.prompts.get(prompt?.ask_id ?? '');
    if (status === 'responded') {
      winners.desk += 1;
      expect(answer.result).toEqual(selected('once'));
      await client.until(({ method, params }) => method === '$/cancel_request' && params.requestId === id);
    } else {
      winners.editor += 1;
      expect(answer.result).toEqual(selected('no'));
      expect(cancel_reason).toBe('answered_elsewhere');
    }
  }
  expect(agent.got.filter(({ id }) => id >= 100)).toHaveLength(RACES);
  expect(client.got.filter(({ method }) => method === '$/cancel_request')).toHaveLength(winners.desk);
  expect(Math.min(winners.desk, winners.editor)).toBeGreaterThan(0);
  // Some answers of the editor were on their way when the desk's had already won.
  expect(new Set(remarks)).toEqual(
    new Set(['An answer in the editor came too late: a desk had answered already.']),
  );
}
