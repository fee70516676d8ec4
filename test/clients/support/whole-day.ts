/** An agent that uses everything that Hive offers it, one call a step, and a human who answers: the same for each client. */
import { expect } from 'vitest';
import type { OpenedHive } from '../../../src/open-hive.ts';
import { openDesk } from '../../support/dialogs.ts';
import { HUMAN } from '../../support/hive.ts';
import { askIdIn, isMain, mention, type World } from './world.ts';

/** A call of one of Hive's tools, other work, or the end of the turn. */
export type Step = { tool: string; input: object } | 'works' | 'stops';

/** The words that the model was told after each step that matters here. */
interface Heard {
  stopped: string;
  polled: string;
  held: string;
  mentions: string;
}

export interface Day {
  /** The next step of the model, which has been told this. */
  next(told: string): Promise<Step>;
  /** Everything came about, and no dialog of the client was about one of Hive's tools. */
  expectDone(source: 'main' | 'bg'): Promise<void>;
}

/** `pings`: it runs in the background, where it may ping and must report. */
export async function wholeDay({ hive }: World, pings: boolean): Promise<Day> {
  await openDesk(hive);
  const heard: Partial<Heard> = {};
  const refused: string[] = [];
  const steps = stepsOf(hive, heard, pings);
  return {
    async next(told) {
      if (/requested permissions|has been denied|plan mode|Auto mode is unavailable/.test(told))
        refused.push(told);
      const { value } = await steps.next(told);
      return value ?? 'stops';
    },
    async expectDone(source) {
      expect(refused).toEqual([]);
      expect(heard.polled).toContain('blue');
      expect(heard.stopped).toContain('ask-');
      expect(heard.held).toContain('Please review auth');
      expect(heard.mentions).toContain('Please review auth');
      const prompts = (await hive.prompts.list({ limit: 10 })).items;
      expect(prompts).toMatchObject([{ kind: 'question', status: 'responded' }]);
      const { items } = await hive.store.read((tx) => tx.mentions.list({ limit: 10 }));
      expect(items).toMatchObject([{ status: 'processed' }]);
      const posted = (await hive.messages.read({ limit: 10 })).items.map(({ body }) => body);
      expect(posted).toContain('Reviewed.');
      const [asker] = prompts;
      expect(await hive.sessions.find(asker?.session_id ?? '')).toMatchObject({ source });
      const outreach = (await hive.outreach.list({ limit: 10 })).items.map(({ kind }) => kind);
      expect(outreach.sort()).toEqual(pings ? ['ping', 'report'] : []);
    },
  };
}

async function* stepsOf(
  hive: OpenedHive,
  heard: Partial<Heard>,
  pings: boolean,
): AsyncGenerator<Step, undefined, string> {
  const call = (tool: string, input: object = {}): Step => ({ tool, input });
  const ask_id = askIdIn(yield call('hivemind_ask_async', { question: 'Which colour?' }));
  await hive.prompts.respond({ ask_id, decision: 'blue', actor: HUMAN });
  heard.stopped = yield 'stops';
  heard.polled = yield call('hivemind_poll', { ask_id });
  await mention(hive, isMain);
  heard.held = yield 'works';
  heard.mentions = yield call('hivemind_get_unprocessed_mentions');
  yield call('hivemind_process_mentions', { all: true, note: 'reviewed' });
  yield call('hivemind_post', { body: 'Reviewed.' });
  if (pings) {
    yield call('hivemind_ping_user', { message: 'Half of it is done.' });
    yield call('hivemind_report_updates', { message: 'All of it is done.' });
  }
  return undefined;
}
