/** Who has a say when a hook fires, in this order (hooks.ts). */
import { deliverAnswers } from './delivery.ts';
import { answerDialogs } from './dialogs.ts';
import { settleSession } from './hook-sessions.ts';
import { deliverInterrupts, tellAborted } from './interrupt-stations.ts';
import { gateMentions } from './mention-gate.ts';
import { deliverReports } from './reports.ts';
import type { Station } from './station.ts';
import { guardStop } from './stop-guard.ts';
import { beginTurns, endTurns } from './turn-stations.ts';

export const STATIONS: readonly Station[] = [
  beginTurns,
  deliverInterrupts,
  tellAborted,
  gateMentions,
  answerDialogs,
  guardStop,
  deliverAnswers,
  deliverReports,
  endTurns,
  settleSession,
];
