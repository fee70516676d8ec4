/** Who has a say when a hook fires, in this order (hooks.ts). */
import { dialogOf } from '../domain/dialogs.ts';
import type { HookEvent } from '../domain/hooks.ts';
import { deliverAnswers } from './delivery.ts';
import { withdrawClosed } from './dialog-closings.ts';
import { settleSession } from './hook-sessions.ts';
import { deliverInterrupts, tellAborted } from './interrupt-stations.ts';
import { gateMentions, refusePrompts } from './mention-gate.ts';
import { remindOfReports } from './report-reminder.ts';
import { deliverReports } from './reports.ts';
import type { Station } from './station.ts';
import { beginTurns, endTurns } from './turn-stations.ts';

/** A station that few events concern: whoever starts for one event loads it for those alone. */
interface LateStation {
  concerns(event: HookEvent): boolean;
  load(): Promise<Station>;
}

/** Only those that are loaded late may wait for the human (`HookParts.waiting`). */
const STATIONS: readonly (Station | LateStation)[] = [
  refusePrompts,
  beginTurns,
  deliverInterrupts,
  tellAborted,
  gateMentions,
  withdrawClosed,
  {
    concerns: (event) => dialogOf(event) !== null,
    load: async () => (await import('./dialogs.ts')).answerDialogs,
  },
  remindOfReports,
  {
    concerns: ({ name }) => name === 'Stop' || name === 'SubagentStop',
    load: async () => (await import('./stop-guard.ts')).guardStop,
  },
  deliverAnswers,
  deliverReports,
  endTurns,
  settleSession,
];

/** The stations that an event passes. */
export async function stationsFor(event: HookEvent): Promise<Station[]> {
  const stations: Station[] = [];
  for (const station of STATIONS) {
    if (typeof station === 'function') stations.push(station);
    else if (station.concerns(event)) stations.push(await station.load());
  }
  return stations;
}
