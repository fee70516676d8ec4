/** The human lets agents coordinate, at a desk whose key is registered. */
import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { grants } from '../../src/domain/coordinators.ts';
import { permissionDigest } from '../../src/domain/permissions.ts';
import { asksForRole } from '../../src/domain/prompts.ts';
import type { OpenedHive } from '../../src/open-hive.ts';
import type { Environment } from './children.ts';
import { HUMAN, openTestHive, SEAT } from './hive.ts';
import { trusting } from './human-file.ts';
import { eventually } from './wait.ts';

/** The environment of a process whose human has registered the desk of `openTestHive`. */
export function seated(): Environment {
  return trusting({ allow_scripts_to_answer: true, seats: [SEAT] });
}

/** Answers every request for the role that waits in this hive; returns how many. */
export async function answerRequests(hive: OpenedHive, decision = 'Allow'): Promise<number> {
  const { items } = await hive.prompts.list({ status: 'pending', limit: 100 });
  const requests = items.filter(asksForRole);
  for (const prompt of requests) {
    const displayed_digest = permissionDigest(prompt);
    await hive.prompts.respond({ ask_id: prompt.ask_id, decision, actor: HUMAN, displayed_digest });
  }
  return requests.length;
}

/** Lets this client coordinate. A real process needs `seated` in its environment. */
export async function letCoordinate(hive: OpenedHive | string, client: Client): Promise<void> {
  const opened = typeof hive === 'string' ? await openTestHive(hive) : hive;
  const call = { name: 'hivemind_await_ask', arguments: { timeout_ms: 0 } };
  const refused = await client.callTool(call);
  if (refused.isError !== true) return;
  if ((await answerRequests(opened)) === 0) throw new Error(JSON.stringify(refused.content));
  const { items } = await opened.prompts.list({ status: 'responded', limit: 100 });
  if (!items.some(grants)) throw new Error('The request was not granted.');
}

/** Resolves when an agent has asked for the role and been granted it. */
export function whenGranted(hive: OpenedHive): Promise<void> {
  return eventually(async () => (await answerRequests(hive)) > 0, 60_000, 'a request for the role');
}
