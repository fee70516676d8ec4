/**
 * `hive acp`: what real agents and editors were recorded to send, changed and in another order.
 *
 * @module-tag untrusted
 * @module-tag silence
 * @module-tag acp
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect } from 'vitest';
import { openProxy } from '../support/acp.ts';
import { ROOT } from '../support/children.ts';
import { fuzz } from './fuzz.ts';
import { changed, type Json } from './inputs.ts';
import { inWorld } from './world.ts';

const FOLDER = join(ROOT, 'test/wire/fixtures/acp');

interface Sent {
  isClients: boolean;
  message: Json;
}

/** The messages of each recording, in their order. */
const RECORDINGS: readonly Sent[][] = readdirSync(FOLDER).map((name) =>
  readFileSync(join(FOLDER, name), 'utf8')
    .trim()
    .split('\n')
    .map((line) => {
      const { dir, ...message } = JSON.parse(line) as { dir: string } & Record<string, Json>;
      return { isClients: dir === 'client>agent', message };
    }),
);

/** A recording with some messages changed, left out, or sent once more. */
const traffic: fc.Arbitrary<Sent[]> = fc.constantFrom(...RECORDINGS).chain((recorded) =>
  fc
    .tuple(
      ...recorded.map((sent) =>
        fc.oneof(
          { weight: 12, arbitrary: fc.constant([sent]) },
          {
            weight: 2,
            arbitrary: changed(fc.constant(sent.message)).map((message) => [{ ...sent, message }]),
          },
          { weight: 1, arbitrary: fc.constant([]) },
          { weight: 1, arbitrary: fc.constant([sent, sent]) },
        ),
      ),
    )
    .map((parts) => parts.flat()),
);

fuzz('acp: the proxy ends with its two sides, and nothing that it offered is left or allowed', 25, () =>
  fc.asyncProperty(traffic, (sent) =>
    inWorld(async ({ hive }) => {
      const { client, agent, ended } = openProxy(hive);
      for (const { isClients, message } of sent)
        (isClients ? client : agent).sendLine(JSON.stringify(message));
      client.end();
      agent.end();
      await ended;
      const { items } = await hive.prompts.list({ limit: 100 });
      expect(items.filter(({ status }) => status !== 'cancelled')).toEqual([]);
      const turns = await hive.store.read(async (tx) => {
        const sessions = await tx.sessions.list({ limit: 100 });
        return Promise.all(sessions.map(({ session_id }) => tx.turns.last(session_id)));
      });
      expect(turns.filter((turn) => turn?.state === 'in_progress')).toEqual([]);
    }),
  ),
);
