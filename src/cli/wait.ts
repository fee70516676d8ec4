/** `hive wait`: sleep until an answer comes. */
import type { Command } from 'commander';
import type { Hive } from '../application/hive.ts';
import { isUncollected, type Prompt } from '../domain/prompts.ts';
import { carrierOf, findCaller } from './caller.ts';
import { parseDuration } from './duration.ts';
import { EXIT, type ExitCode } from './exit-codes.ts';
import { type Format, printJson, remark } from './output.ts';
import { report } from './poll.ts';
import { withHive } from './run.ts';
import { waitForAny, waitForOpen, waitUntil } from './waiting.ts';

interface WaitOptions extends Format {
  all?: boolean;
  timeout?: string;
}

export function defineWait(command: Command): void {
  command
    .argument('[ids...]', 'the questions; without one: whatever of yours settles next')
    .option('--all', 'wait until all of them are settled, not only one')
    .option('--timeout <duration>', 'stop waiting after so long; the questions stay')
    .option('--json', 'print JSON')
    .action((ids: string[], options: WaitOptions) => withHive(options, (hive) => wait(hive, ids, options)));
}

async function wait(hive: Hive, ids: string[], options: WaitOptions): Promise<ExitCode> {
  const limit_ms = options.timeout === undefined ? null : parseDuration(options.timeout);
  const caller = await findCaller(hive);
  const carrier = await carrierOf(hive, caller);
  const all = options.all === true;
  if (ids.length === 0) {
    const open = await waitForOpen(hive, caller.session_id, { limit_ms, all });
    if (open.prompts.length === 0) {
      if (options.json === true) printJson({ prompts: [] });
      remark('You have no open question: there is nothing to wait for.');
      return EXIT.pending;
    }
    const done = all ? open.pending === 0 : open.settled > 0;
    if (!done) remark(NO_ANSWER);
    const shown = done ? open.prompts.filter(({ status }) => status !== 'pending') : open.prompts;
    // What is pending was not asked for where something has settled.
    const counted = done ? { ...open, prompts: shown, pending: 0 } : open;
    return report(hive, shown, { caller, carrier, single: false, open: counted, ...options });
  }
  const settled = await settledAmong(hive, ids, limit_ms, all);
  if (settled.length > 0)
    return report(hive, settled, { caller, carrier, single: ids.length === 1, ...options });
  remark(NO_ANSWER);
  const pending = await Promise.all(ids.map((ask_id) => hive.prompts.get(ask_id)));
  return report(hive, pending, { caller, carrier, single: ids.length === 1, ...options });
}

const NO_ANSWER = 'No answer in that time; the questions stay open.';

/** What is settled once one (or all) of them is, of that first what was not collected yet; nothing when the time is up. */
async function settledAmong(
  hive: Hive,
  ask_ids: string[],
  limit_ms: number | null,
  all: boolean,
): Promise<Prompt[]> {
  const look = (): Promise<Prompt[]> => Promise.all(ask_ids.map((ask_id) => hive.prompts.get(ask_id)));
  if (all) {
    const everyOne = async (): Promise<Prompt[] | undefined> => {
      const prompts = await look();
      return prompts.every((prompt) => prompt.status !== 'pending') ? prompts : undefined;
    };
    return (await waitUntil(hive, limit_ms, everyOne)) ?? [];
  }
  const prompts = await waitForAny(hive, ask_ids, limit_ms);
  const fresh = prompts.filter(isUncollected);
  return fresh.length > 0 ? fresh : prompts.filter((prompt) => prompt.status !== 'pending');
}
