/** The hook handler that notices when a client refuses a call of Hive's own tools, or asks about it in its terminal. */
import { REFUSED_CALLS_RATE, refusedCallsBucket } from '../domain/quotas.ts';
import { askedSentence, refusedSentence, wordsOf } from '../domain/refused-calls.ts';
import { labelled } from '../domain/sources.ts';
import { type Turn, toolNoticed } from '../domain/turns.ts';
import type { HookHandler } from './hook-context.ts';
import { giveNoticeSeldom } from './notices.ts';
import { turnOf } from './turns.ts';

/**
 * Runs before the turn ends. Clients report some refusals with no event at all. Such a call is still open at the end of its turn,
 * although the client waits for every call before that.
 */
export const noticeRefusedCalls: HookHandler = async ({ tx, event, session, verdict }) => {
  const { name, client, tool, attended } = event;
  const { session_id } = session;
  const agent = labelled(session);
  const give = (text: string): Promise<void> =>
    giveNoticeSeldom(
      tx,
      refusedCallsBucket(session),
      { severity: 'warning', text, session_id, data: { kind: 'refused_call' } },
      REFUSED_CALLS_RATE,
    );
  const turn = (): Promise<Turn | undefined> => turnOf(tx, session_id, event.client_turn_id);
  /** Gives one notice for each call. */
  const recordNotice = async (says: string): Promise<void> => {
    const running = await turn();
    if (running !== undefined) await tx.turns.update(toolNoticed(running, says));
  };
  switch (name) {
    case 'PermissionDenied':
    case 'PermissionRequest': {
      const words = tool === null ? null : wordsOf(tool);
      if (words === null || verdict.deny !== null) return null;
      if (name === 'PermissionDenied') await give(refusedSentence(agent, client, words));
      // If nobody can be asked, the call is refused, which the end of the turn shows.
      else if (attended === true) {
        await give(askedSentence(agent, client, words));
        await recordNotice(words);
      }
      return null;
    }
    // If a classifier should decide but cannot be reached, as in plan mode, this is the only event of the dialog.
    case 'Notification': {
      if (event.raw['notification_type'] !== 'permission_prompt') return null;
      const open = (await turn())?.open_tools ?? [];
      const says = open.length === 1 ? open[0]?.says : undefined;
      if (says === undefined) return null;
      await give(askedSentence(agent, client, says));
      await recordNotice(says);
      return null;
    }
    case 'Stop':
    case 'StopFailure':
    case 'SubagentStop': {
      if (verdict.block !== null) return null;
      const ending = await turn();
      if (ending?.state !== 'in_progress') return null;
      for (const { says } of ending.open_tools)
        if (says !== undefined) await give(refusedSentence(agent, client, says));
      return null;
    }
    default:
      return null;
  }
};
