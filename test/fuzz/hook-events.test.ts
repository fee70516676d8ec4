/**
 * The stdin of `hive hook`: what both clients were recorded to send, changed; and what they never send.
 *
 * @module-tag untrusted
 * @module-tag guards-end
 * @module-tag hook
 */

import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { parseEvent } from '../../src/adapters/hooks/hook.ts';
import { HiveError } from '../../src/domain/errors.ts';
import { ROOT } from '../support/children.ts';
import { prefer } from '../support/hive.ts';
import { fire, recordedEvent, recordedSequence } from '../support/hooks.ts';
import { fuzz } from './fuzz.ts';
import { anyJson, changed, type Json, oddText } from './inputs.ts';
import { inWorld } from './world.ts';

type Event = Record<string, unknown>;
type Who = 'claude-code' | 'codex';

/** Every event that a client was recorded to send. */
function recorded(client: Who): Event[] {
  const folder = join('test/wire/fixtures', client);
  return readdirSync(join(ROOT, folder)).flatMap((name) => {
    const file = join(client, name);
    if (name.endsWith('.jsonl')) return recordedSequence(file);
    const event = name.endsWith('.json') ? recordedEvent(file) : {};
    return typeof event['hook_event_name'] === 'string' ? [event] : [];
  });
}

const EVENTS: readonly { client: Who; event: Event }[] = (['claude-code', 'codex'] as const).flatMap(
  (client) => recorded(client).map((event) => ({ client, event })),
);

const hook = fc
  .constantFrom(...EVENTS)
  .chain(({ client, event }) =>
    fc.record({ client: fc.constant(client), event: changed(fc.constant(event as Json)) }),
  );

/** Everything that either client takes; one field more and Codex runs the tool. */
const SAID = new Set(['hookSpecificOutput', 'decision', 'reason', 'continue', 'stopReason', 'systemMessage']);

fuzz('hook events: one line of JSON that the client knows, or a sentence on stderr', 60, () =>
  fc.asyncProperty(fc.array(hook, { minLength: 1, maxLength: 8 }), (hooks) =>
    inWorld(async ({ hive, log }) => {
      // Dialogs would wait at a desk, and there is none.
      await prefer(hive, { dialog_wait: 'off' });
      for (const { client, event } of hooks) {
        let printed: string;
        try {
          printed = await fire(hive, event as Event, { client });
        } catch (error) {
          if (error instanceof HiveError && error.code !== 'internal') continue;
          throw error;
        }
        if (printed === '') continue;
        const said = JSON.parse(printed) as Event;
        const strangers = Object.keys(said).filter((field) => !SAID.has(field));
        if (strangers.length > 0) throw new Error(`It says ${strangers.join(', ')}: ${printed}`);
        const name = (said['hookSpecificOutput'] as Event | undefined)?.['hookEventName'];
        if (name !== undefined && name !== (event as Event)['hook_event_name'])
          throw new Error(`It answers another event: ${printed}`);
      }
      if (log.lines.some((line) => line.includes('TypeError'))) throw new Error(log.lines.join('\n'));
    }),
  ),
);

fuzz('hook events: any text', 500, () =>
  fc.property(
    fc.oneof(
      oddText,
      fc.string(),
      anyJson.map((value) => JSON.stringify(value)),
    ),
    (text) => {
      for (const client of ['claude-code', 'codex', null] as const) {
        try {
          parseEvent(text, {}, client);
        } catch (error) {
          if (!(error instanceof HiveError)) throw error;
        }
      }
    },
  ),
);
