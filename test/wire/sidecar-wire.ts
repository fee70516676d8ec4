/** A desk on a wire whose frames are compared with `golden/sidecar/`. */
import type { OpenedHive } from '../../src/open-hive.ts';
import { ask, openTestHive } from '../support/hive.ts';
import { isTold, type Loose, type RpcClient, RpcError, serveInProcess } from '../support/sidecar.ts';
import { eventually } from '../support/wait.ts';
import { expectGolden } from './golden.ts';
import { FULL_QUESTION } from './golden-prompt.ts';

export interface Wire {
  hive: OpenedHive;
  sidecar: RpcClient;
}

export async function connectDesk(): Promise<Wire> {
  const hive = await openTestHive();
  hive.startExpiry();
  return { hive, sidecar: await serveInProcess(hive) };
}

/** Sends a request and compares both frames with `golden/sidecar/NAME.json`. */
export async function exchange(
  sidecar: RpcClient,
  method: string,
  params: unknown,
  name = method,
): Promise<Loose> {
  const reply = await sidecar.request(method, params).then(
    (result: Loose) => ({ result }),
    (error: unknown) => {
      if (!(error instanceof RpcError)) throw error;
      return { error: { code: error.code, message: error.message, data: error.data as unknown } };
    },
  );
  expectGolden(`sidecar/${name}`, { request: { method, params }, reply: steady(reply) });
  return 'result' in reply ? reply.result : reply.error;
}

/** Popups are recorded in the event log whenever the machine gets to them. */
function steady<T>(reply: T): T {
  return JSON.parse(
    JSON.stringify(reply, (key, value: unknown) =>
      key === 'events' && Array.isArray(value)
        ? value.filter((event: { type: string }) => event.type !== 'prompt/popup')
        : value,
    ),
  ) as T;
}

export async function expectTold(
  sidecar: RpcClient,
  method: string,
  test: (params: Loose) => boolean = () => true,
  name = method,
): Promise<void> {
  const { params } = await sidecar.seen(isTold(method, test));
  expectGolden(`sidecar/${name}`, { notification: { method, params: params as unknown } });
}

/** A prompt that the desk has shown: whatever is compared afterwards carries the receipt. */
export async function askedAndShown(hive: OpenedHive): Promise<string> {
  const { ask_id } = await ask(hive, { urgency: 'low' });
  await eventually(async () => (await hive.prompts.get(ask_id)).offered_at !== null);
  return ask_id;
}

/** A prompt with every field that an asker can fill. */
export function askFully(hive: OpenedHive): ReturnType<typeof ask> {
  return ask(hive, FULL_QUESTION);
}
