/** A person at a shell: each act is a separate command. */
import { attempt, Failure, lost, sleep } from '../failures.ts';
import { deskOf, untilDone, type Worker, type World } from '../world.ts';
import { run } from './command.ts';

// biome-ignore lint/suspicious/noExplicitAny: replies are of many shapes
type Loose = any;

export function terminal(world: World, name: string): Worker {
  const { log, random, unique } = deskOf(world, name);

  async function hive(...args: string[]): Promise<Loose> {
    const { out, err } = await run(world.installation, name, [...args, '--json'], {
      env: { HIVE_USER: name },
    });
    // Killed before it could say all: nobody knows.
    if (!out.endsWith('\n')) throw lost(err === '' ? `hive ${args[0]} said nothing` : err);
    const said = JSON.parse(out) as Loose;
    if (said.error !== undefined) throw new Failure(said.error.code, said.error.message);
    return said;
  }

  function question(): string | undefined {
    return world.asks.length > 0 ? random.pick(world.asks) : undefined;
  }

  async function answer(): Promise<void> {
    const ask_id = question();
    if (ask_id === undefined) return;
    const decision = unique('answer');
    log.add({ did: 'tried', what: 'answer', text: decision });
    const act = async (): Promise<void> => {
      const { accepted, late, status, decision: standing } = await hive('respond', ask_id, decision);
      log.add({ did: 'answered', ask_id, decision, accepted, late, status, standing });
    };
    await attempt(log, 'answer', act, { ask_id, decision });
  }

  async function cancel(): Promise<void> {
    const ask_id = question();
    if (ask_id === undefined) return;
    const act = async (): Promise<void> => {
      const { accepted, status } = await hive('cancel', ask_id);
      log.add({ did: 'cancelled', ask_id, accepted, status });
    };
    await attempt(log, 'cancel', act, { ask_id });
  }

  async function post(): Promise<void> {
    const body = `${unique('message')} @All`;
    log.add({ did: 'tried', what: 'post', text: body });
    const { message_id } = await hive('post', body);
    log.add({ did: 'posted', message_id, body });
  }

  async function interrupt(): Promise<void> {
    if (world.handles.size === 0) return;
    const handle = random.pick([...world.handles]);
    await attempt(log, 'interrupt', async () => {
      const { turn_id, outcome, abort_reason } = await hive('interrupt', handle, '--timeout', '1s');
      log.add({ did: 'interrupted', turn_id, outcome, abort_reason });
    });
  }

  const acts = [answer, answer, cancel, () => attempt(log, 'post', post), interrupt];
  return {
    name,
    async work() {
      while (world.working) {
        await random.pick(acts)();
        await sleep(random.between(200, 900));
      }
    },
    // Every agent has a mention to deal with when it finishes.
    settle: async () => void (await untilDone(log, 'post', post)),
    finish: async () => undefined,
    end: async () => log.close(),
  };
}
