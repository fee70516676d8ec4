/**
 * A human's desk, as Emacs would be: it receives questions, answers, amends, cancels, posts, interrupts. What
 * was not acknowledged goes out again under its own id, like Emacs' outbox.
 */
import {
  createMessageConnection,
  type MessageConnection,
  ResponseError,
  StreamMessageReader,
  StreamMessageWriter,
} from 'vscode-jsonrpc/node';
import { asksForRole } from '../../../src/domain/prompts.ts';
import { attempt, Failure, lost, sleep, within } from '../failures.ts';
import { DESK_SECRET, type Running } from '../installation.ts';
import { deskOf, untilDone, untilSeen, type Worker, type World } from '../world.ts';

/** Longer than a write waits for the store. */
const REQUEST_MS = 9_000;

// biome-ignore lint/suspicious/noExplicitAny: replies are of many shapes
type Loose = any;

interface Wire {
  connection: MessageConnection;
  running: Running;
  gone: Promise<never>;
}

/** An act that was not acknowledged yet. */
interface Sent {
  what: string;
  method: string;
  params: Record<string, unknown>;
  /** Writes down what became of it. */
  done(result: Loose): void;
}

export function desk(world: World, name: string): Worker {
  const { log, random, unique } = deskOf(world, name);
  const outbox = new Map<string, Sent>();
  const heard: string[] = [];
  const requests: Loose[] = [];
  let wire: Wire | null = null;
  let opened_at = 0;
  let last_message = '';

  async function connect(): Promise<Wire> {
    const running = await world.installation.start(name, ['sidecar']);
    const { stdin, stdout } = running.child;
    const connection = createMessageConnection(
      new StreamMessageReader(stdout),
      new StreamMessageWriter(stdin),
    );
    connection.onError(() => undefined);
    connection.onUnhandledNotification(() => undefined);
    connection.onNotification((method: string, params: Loose) => hear(method, params));
    connection.listen();
    const gone = running.exited.then(() => Promise.reject(lost('hive sidecar went away')));
    gone.catch(() => undefined);
    const opened = { connection, running, gone };
    try {
      const client = { name: 'chaos', version: '1' };
      const params = { protocol_version: 1, client, human: name, seat_key: DESK_SECRET };
      const { head_seq } = await request(opened, 'initialize', params);
      log.add({ did: 'opened', head_seq });
      opened_at = head_seq;
      await connection.sendNotification('initialized', {});
    } catch (error) {
      await drop(opened);
      throw error instanceof Failure ? error : lost(String(error));
    }
    return opened;
  }

  function hear(method: string, params: Loose): void {
    if (method === 'message/posted') {
      log.add({ did: 'heard', method, id: params.message_id, status: null });
      last_message = params.message_id;
      return;
    }
    if (method !== 'hivemind-ask' && method !== 'prompt/changed') return;
    log.add({ did: 'heard', method, id: params.ask_id, status: params.status });
    if (method !== 'hivemind-ask') return;
    if (asksForRole(params)) requests.push(params);
    else heard.push(params.ask_id);
  }

  async function request(
    { connection, running, gone }: Wire,
    method: string,
    params: object,
  ): Promise<Loose> {
    try {
      // Throws at once where the connection is closed already.
      const asked = connection.sendRequest(method, params);
      asked.catch(() => undefined);
      return await within(REQUEST_MS, method, Promise.race([asked, gone]));
    } catch (error) {
      if (error instanceof ResponseError && typeof error.data?.code === 'string')
        throw new Failure(error.data.code, error.message);
      await drop({ connection, running, gone });
      throw error instanceof Failure ? error : lost(String(error));
    }
  }

  async function drop({ connection, running }: Wire): Promise<void> {
    wire = null;
    world.installation.kill(running.pid);
    await running.exited;
    connection.dispose();
  }

  async function send(method: string, params: object): Promise<Loose> {
    wire ??= await connect();
    return request(wire, method, params);
  }

  /** Sends the entry `id` of the outbox; a refusal removes it as well. */
  async function flush(id: string, until: typeof attempt): Promise<void> {
    const sent = outbox.get(id);
    if (sent === undefined) return;
    const act = async (): Promise<void> => {
      const reply: Loose = await send(sent.method, sent.params);
      sent.done(reply);
    };
    const result = await until(log, sent.what, act, sent.params);
    if (!(result instanceof Failure && result.isTransient)) outbox.delete(id);
  }

  async function put(id: string, sent: Sent): Promise<void> {
    outbox.set(id, sent);
    await flush(id, attempt);
  }

  async function answer(ask_id: string): Promise<void> {
    const decision = unique('answer');
    log.add({ did: 'tried', what: 'answer', text: decision });
    await put(decision, {
      what: 'answer',
      method: 'hivemind-response',
      params: { ask_id, decision, by: name, response_id: decision },
      done(reply) {
        const { accepted, late, status } = reply;
        log.add({ did: 'answered', ask_id, decision, accepted, late, status, standing: reply.decision });
      },
    });
    if (random.chance(0.3)) await amend(ask_id);
  }

  /** Lets an agent coordinate; the other desk may be first. */
  async function grant(): Promise<void> {
    const prompt = requests.shift();
    const { ask_id, digest: displayed_digest } = prompt;
    const act = () => send('hivemind-response', { ask_id, decision: 'Allow', by: name, displayed_digest });
    const result = await attempt(log, 'grant', act, { ask_id });
    if (result instanceof Failure && result.isTransient) requests.push(prompt);
  }

  async function amend(ask_id: string): Promise<void> {
    const decision = unique('amendment');
    log.add({ did: 'tried', what: 'amend', text: decision });
    await put(decision, {
      what: 'amend',
      method: 'prompt/amend',
      params: { ask_id, decision, by: name, response_id: decision },
      done: () => log.add({ did: 'amended', ask_id, decision }),
    });
  }

  async function hearOne(): Promise<void> {
    if (requests.length > 0) return grant();
    // Left for a while now and then, so that some expire first and the answer comes late.
    if (heard.length === 0 || (heard.length < 5 && random.chance(0.5))) return;
    const ask_id = heard.shift() ?? '';
    if (random.chance(0.3)) {
      const see = async (): Promise<void> => {
        const { seen_at } = await send('prompt/seen', { ask_id });
        if (seen_at !== null) log.add({ did: 'seen', ask_id });
      };
      await attempt(log, 'see', see, { ask_id });
    }
    if (random.chance(0.85)) await answer(ask_id);
    else await cancel(ask_id);
  }

  async function cancel(ask_id: string): Promise<void> {
    const act = async (): Promise<void> => {
      const { accepted, prompt } = await send('prompt/cancel', { ask_id, by: name });
      log.add({ did: 'cancelled', ask_id, accepted, status: prompt.status });
    };
    await attempt(log, 'cancel', act, { ask_id });
  }

  async function post(): Promise<void> {
    const whom = world.handles.size > 0 ? random.pick([...world.handles]) : 'All';
    const body = `${unique('message')} @${whom}`;
    log.add({ did: 'tried', what: 'post', text: body });
    const message_id = `msg-${body.replace(/[^0-9a-zA-Z]/g, '-')}`.slice(0, 80);
    await put(body, {
      what: 'post',
      method: 'message/post',
      params: { body, by: name, message_id },
      done: ({ message }) => log.add({ did: 'posted', message_id: message.message_id, body }),
    });
  }

  async function interrupt(): Promise<void> {
    if (world.handles.size === 0) return;
    const session_id = random.pick([...world.handles]);
    await attempt(log, 'interrupt', async () => {
      const { turn_id, outcome, abort_reason } = await send('turn/interrupt', {
        session_id,
        timeout_ms: 1_500,
        by: name,
      });
      log.add({ did: 'interrupted', turn_id, outcome, abort_reason });
    });
  }

  const acts = [hearOne, hearOne, hearOne, hearOne, post, interrupt];
  return {
    name,
    async work() {
      while (world.working) {
        const [waiting] = outbox.keys();
        if (waiting !== undefined) await flush(waiting, attempt);
        else await random.pick(acts)();
        if (wire === null)
          await attempt(log, 'connect', async () => void (await send('prompt/list', { limit: 1 })));
        await sleep(random.between(20, 250));
      }
    },
    async settle() {
      for (const id of [...outbox.keys()]) await flush(id, untilDone);
      await untilDone(log, 'list', () => send('prompt/list', { limit: 1 }));
    },
    finish: async () => undefined,
    async end({ message }) {
      if (message !== null && message.seq > opened_at)
        await untilSeen(
          log,
          `The message ${message.message_id} at ${name}`,
          () => last_message === message.message_id,
        );
      const running = wire?.running;
      wire = null;
      running?.child.stdin.end();
      await running?.exited;
      log.close();
    },
  };
}
