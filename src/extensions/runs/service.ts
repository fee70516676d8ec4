/**
 * Runs: headless agents that end while their human thinks (run.ts). Any process of the same person resumes them, each
 * start exactly once: the process that changes the run's record first starts the agent.
 */

import { setTimeout as sleep } from 'node:timers/promises';
import { beside, createRetries } from '../../application/background.ts';
import { debounced } from '../../application/feed.ts';
import { type Hive, oncePerHive } from '../../application/hive.ts';
import { giveNotice } from '../../application/notices.ts';
import type { Parts } from '../../application/parts.ts';
import type { ReadTx, WriteTx } from '../../application/ports.ts';
import { recordCancel } from '../../application/prompts.ts';
import { markOrphaned } from '../../application/sessions.ts';
import { blockUntilSettled, endWait } from '../../application/waits.ts';
import { HiveError, isTransient } from '../../domain/errors.ts';
import { RUN_VARIABLE, type Run, type RunKeeper, writeStart } from '../../domain/runs.ts';
import { createRunFiles, type RunFiles } from './files.ts';
import {
  ALLOWED_VARIABLE,
  agentEnded,
  allowedBy,
  argumentsOf,
  mayGoOn,
  nextStart,
  type RunCommand,
} from './run.ts';

export interface NewRun {
  command: RunCommand;
  dir: string;
  env: Readonly<Record<string, string>>;
  /** Variables that look like secrets. */
  left_out: readonly string[];
  patience_ms: number;
  /** Stops the agent and ends the run. */
  stop?: AbortSignal;
}

interface RunParts extends Pick<Parts, 'store' | 'ids' | 'processes' | 'seat' | 'machine' | 'pid' | 'log'> {
  files: RunFiles;
  /** Makes the id of a conversation, in the client's format. */
  conversationId: () => string;
}

/** In ms: how often a process looks for runs that another one has left behind. */
const CHECK_EVERY_MS = 5_000;

/** In ms: how long a stopped agent may take to end by itself before it is killed, and how often that is checked. */
const GRACE_MS = 10_000;
const LOOK_EVERY_MS = 50;

/** How often a change of a run is tried while the store is busy or away: for about 20 s, or longer if each try waits. */
const WRITE_TRIES = 8;

/** The starts that this process looks after; it may have opened the store more than once. */
const kept = new Set<string>();

/** The runs of a hive. */
export const runsOf = oncePerHive(({ parts, log }) =>
  createRuns({
    ...parts,
    log,
    files: createRunFiles(parts.env),
    conversationId: () => process.getBuiltinModule('node:crypto').randomUUID(),
    pid: process.pid,
  }),
);

/** How many sleeping agents a long-lived process resumes at a time. */
export const JOBS = 4;

const watching = new WeakSet<Hive>();

/** Resumes the runs of this person whose human has answered, until the hive is closed; every long-lived process does. */
export function resumeRuns(hive: Hive, jobs: number = JOBS): void {
  if (watching.has(hive)) return;
  watching.add(hive);
  hive.onClose(runsOf(hive).watch({ jobs }));
}

export function createRuns(parts: RunParts) {
  const { store, ids, processes, files, seat, machine, log } = parts;
  const me: RunKeeper = { machine, pid: parts.pid, started: processes.startedAt(parts.pid) };

  /** Stores a start that this process will look after. The start is in `kept` before anybody sees it. */
  async function take<R extends Run | null>(make: (tx: WriteTx) => Promise<R>): Promise<R> {
    let taken: Run | null = null;
    try {
      return await store.write(async (tx) => {
        const run = await make(tx);
        taken = run;
        if (run !== null) kept.add(writeStart(run));
        return run;
      });
    } catch (error) {
      if (taken !== null) kept.delete(writeStart(taken));
      throw error;
    }
  }

  /** Looks after a start that was taken, until its work ends. */
  async function keep(run: Run, work: () => Promise<Run> = () => runAgent(run)): Promise<Run> {
    return work().finally(() => kept.delete(writeStart(run)));
  }

  /** Starts the agent of a run that this process keeps, and waits for its end. */
  async function runAgent(run: Run): Promise<Run> {
    let code: number | null = null;
    try {
      const record = files.read(run.run_id, run.digest);
      files.count(run.run_id, run.start);
      const env = {
        ...record.env,
        [RUN_VARIABLE]: writeStart(run),
        [ALLOWED_VARIABLE]: allowedBy(record.options).join('\n'),
      };
      const agent = await files.start(record, argumentsOf(record, run), env);
      await recordAgent(run, agent.pid);
      code = await agent.ended;
    } catch (error) {
      const problem = error instanceof Error ? error.message : String(error);
      // The person reads a HiveError as the run's problem.
      if (!(error instanceof HiveError))
        log.error('A run could not be started.', { run_id: run.run_id, error: problem });
      return change(run, (now, at) => withProblem(now, problem, at), problem);
    }
    return change(run, (now, _at, tx) => endedAgent(tx, now, code));
  }

  /** Records the agent of a start. If the run's row cannot name the agent, nobody else could stop it, so it is stopped here. */
  async function recordAgent(run: Run, pid: number): Promise<void> {
    const agent = { machine, pid, started: processes.startedAt(pid) };
    try {
      const { status, start } = await change(run, (now) => ({ ...now, agent }));
      // The run was stopped while its agent was being started.
      if (status === 'ended' || start !== run.start) await end(agent);
    } catch (error) {
      await end(agent);
      throw error;
    }
  }

  /** Changes a run if it has not ended and its agent still belongs to the same start. */
  async function change(
    { run_id, start }: Run,
    how: (run: Run, now: string, tx: ReadTx) => Run | Promise<Run>,
    problem: string | null = null,
  ): Promise<Run> {
    const run = await insist(run_id, () =>
      store.write(async (tx) => {
        const found = await tx.runs.get(run_id);
        if (found === undefined) throw new HiveError('internal', `The run ${run_id} is gone.`);
        if (found.start !== start || found.status === 'ended') return found;
        const changed = await how(found, tx.now, tx);
        await tx.runs.put(changed);
        await recordWaits(tx, changed);
        if (problem === null) return changed;
        await withdraw(tx, askIdsOf(changed));
        await sayThatItEnded(tx, changed, problem);
        return changed;
      }),
    );
    if (run.status === 'ended') files.forget(run_id);
    return run;
  }

  /** Retries a write that nobody else will make. */
  async function insist<T>(run_id: string, write: () => Promise<T>): Promise<T> {
    const retries = createRetries(log, {
      fails: `The run ${run_id} could not be stored; trying again.`,
      works: `The run ${run_id} is stored.`,
    });
    for (let attempt = 1; ; attempt += 1) {
      try {
        const written = await write();
        retries.worked();
        return written;
      } catch (error) {
        if (!isTransient(error) || attempt === WRITE_TRIES) throw error;
        await sleep(retries.failed(error));
      }
    }
  }

  function isAlive(keeper: RunKeeper | null): boolean {
    if (keeper === null || keeper.machine !== machine) return false;
    return processes.alive(keeper.pid) && processes.startedAt(keeper.pid) === keeper.started;
  }

  /** Interrupts an agent, so that it can store what it has done; one that ignores that is killed. Returns whether it was killed. */
  async function end(agent: RunKeeper | null): Promise<boolean> {
    if (agent === null || !isAlive(agent)) return false;
    processes.interrupt(agent.pid);
    for (let waited = 0; waited < GRACE_MS; waited += LOOK_EVERY_MS) {
      await sleep(LOOK_EVERY_MS);
      if (!isAlive(agent)) return false;
    }
    processes.kill(agent.pid);
    return true;
  }

  /** Whether a working run is abandoned: its agent is gone, and no process looks after it. */
  function isLeft(run: Run): boolean {
    const { keeper, agent, status } = run;
    if (status !== 'working' || isAlive(agent)) return false;
    // This process lives, but has given up a run whose end it could not store.
    const isOurs = keeper?.machine === machine && keeper.pid === me.pid && keeper.started === me.started;
    return isOurs ? !kept.has(writeStart(run)) : !isAlive(keeper);
  }

  /** Takes over a run that is abandoned, or whose human has answered; null if it is neither. */
  async function claim(run_id: string): Promise<Run | null> {
    let isOver = false;
    const claimed = await take(async (tx) => {
      isOver = false;
      let run = await tx.runs.get(run_id);
      if (run === undefined || run.machine !== machine || run.seat !== seat) return null;
      if (run.status !== 'ended' && !(await tx.runs.isMarked(run_id))) {
        if (run.status === 'working' && !isLeft(run)) return null;
        const problem =
          'Its row in the store was changed by something other than Hive. It is not started again.';
        const ended = withProblem(run, problem, tx.now);
        await tx.runs.put(ended);
        // The row may name other questions than those that the run waits for.
        await withdraw(tx, await tx.waits.end(run_id));
        await recordWaits(tx, ended);
        await sayThatItEnded(tx, run, problem);
        isOver = true;
        return null;
      }
      if (isLeft(run)) {
        run = await endedAgent(tx, run, null);
        await tx.runs.put(run);
        await recordWaits(tx, run);
        isOver = run.status === 'ended';
      }
      if (run.status !== 'sleeping' || !(await isAnswered(tx, run))) return null;
      // The agent made no call, so the old id may or may not be in use: a new one certainly is not.
      const session_id = run.heard === 0 ? parts.conversationId() : run.session_id;
      const next = nextStart({ ...run, session_id }, me, tx.now);
      await tx.runs.put(next);
      await endWait(tx, run_id);
      return next;
    });
    if (isOver) files.forget(run_id);
    return claimed;
  }

  async function ready(): Promise<string[]> {
    return store.read(async (tx) => {
      const found: string[] = [];
      for (const run of await tx.runs.open(seat)) {
        if (run.machine !== machine) continue;
        if (isLeft(run) || (run.status === 'sleeping' && (await isAnswered(tx, run)))) found.push(run.run_id);
      }
      return found;
    });
  }

  async function stop(run_id: string): Promise<{ run: Run; killed: boolean }> {
    const { before, now } = await store.write(async (tx) => {
      const found = await tx.runs.get(run_id);
      if (found === undefined || found.seat !== seat)
        throw new HiveError('run_not_found', `You have no run ${run_id}. See them with: hive runs`);
      if (found.status === 'ended') return { before: found, now: found };
      const problem = 'It was stopped.';
      // With its agent: if this process dies before the agent has ended, another stop ends it.
      const ended = { ...withProblem(found, problem, tx.now), agent: found.agent };
      await tx.runs.put(ended);
      await withdraw(tx, askIdsOf(found));
      await recordWaits(tx, ended);
      return { before: found, now: ended };
    });
    const killed = await end(before.agent);
    if (before.status !== 'ended') files.forget(run_id);
    return { run: now, killed };
  }

  return {
    /** Stores what to start, starts the agent, and waits until the run has ended or sleeps. */
    async begin({ command, dir, env, left_out, patience_ms, stop: stopping }: NewRun): Promise<Run> {
      const run_id = ids.make('run');
      const session_id = parts.conversationId();
      const digest = files.keep({ ...command, run_id, dir, env, left_out });
      const run = await take(async (tx) => {
        const made: Run = {
          run_id,
          session_id,
          status: 'working',
          seat,
          machine,
          digest,
          patience_ms,
          start: 1,
          heard: 0,
          crashes: 0,
          keeper: me,
          agent: null,
          calls: [],
          exit_code: null,
          problem: null,
          created_at: tx.now,
          changed_at: tx.now,
        };
        await tx.runs.put(made);
        return made;
      }).catch((error: unknown) => {
        files.forget(run_id);
        throw error;
      });
      const stopNow = async (): Promise<Run> => (await insist(run_id, () => stop(run_id))).run;
      const onStop = (): void => {
        void beside(log, 'A run could not be stopped.', stopNow, { run_id }, 'error');
      };
      stopping?.addEventListener('abort', onStop, { once: true });
      // A signal that has already fired calls no listener.
      const over = stopping?.aborted === true ? keep(run, stopNow) : keep(run);
      return over.finally(() => stopping?.removeEventListener('abort', onStop));
    },

    /**
     * Ends a run: returns when its agent has ended, and whether it had to be killed. An agent that is just being started is ended
     * by the process that starts it. The agent is not started again.
     * @throws HiveError `run_not_found`.
     */
    stop,

    /** This person's runs, the oldest first; all of them, or only active and sleeping ones. */
    list: ({ all }: { all: boolean }): Promise<Run[]> =>
      store.read((tx) => (all ? tx.runs.list(seat) : tx.runs.open(seat))),

    /** The path of the file with a run's output, or with its stderr. */
    output: files.output,

    /** Resumes runs until the returned function is called. `jobs` limits how many agents run at a time. */
    watch({ jobs }: { jobs: number }): () => Promise<void> {
      const resumed = new Set<string>();
      let stopped = false;
      let checking: Promise<void> = Promise.resolve();

      async function check(): Promise<void> {
        for (const run_id of await ready()) {
          if (stopped || resumed.size >= jobs) return;
          if (resumed.has(run_id)) continue;
          const run = await claim(run_id);
          if (run === null) continue;
          resumed.add(run_id);
          log.info('A run was resumed.', { run_id, start: run.start });
          const failure = 'A run is no longer watched; hive runs shows its state.';
          void beside(log, failure, () => keep(run), { run_id }, 'error').then(() => {
            resumed.delete(run_id);
            again.call();
          });
        }
      }

      const again = debounced(() => {
        checking = checking.then(() =>
          beside(log, 'Runs could not be checked; trying again.', () => (stopped ? undefined : check())),
        );
      });
      const unwatch = store.watch(again.call);
      const timer = setInterval(again.call, CHECK_EVERY_MS);
      again.call();
      return async () => {
        stopped = true;
        unwatch();
        clearInterval(timer);
        again.stop();
        await checking;
      };
    },
  };
}

/** The run after its agent has ended. The client reports an interrupted turn as a success, and a script would go on. */
async function endedAgent(tx: ReadTx, run: Run, code: number | null): Promise<Run> {
  const over = agentEnded(run, code, tx.now);
  if (over.status !== 'ended' || over.problem !== null) return over;
  const turn = await tx.turns.last(run.session_id);
  return turn?.abort_reason !== 'interrupted'
    ? over
    : { ...over, calls: [], problem: 'Its turn was interrupted.' };
}

function withProblem(run: Run, problem: string, now: string): Run {
  return { ...run, status: 'ended', keeper: null, agent: null, problem, changed_at: now };
}

async function sayThatItEnded(tx: WriteTx, { run_id, session_id }: Run, problem: string): Promise<void> {
  await giveNotice(tx, {
    severity: 'error',
    session_id,
    text: `The run ${run_id} cannot go on: ${problem}`,
    data: { run_id },
  });
}

function askIdsOf({ calls }: Run): string[] {
  return calls.map(({ ask_id }) => ask_id);
}

/** Cancels the questions of a run that has ended: nobody would get their answers. */
async function withdraw(tx: WriteTx, ask_ids: readonly string[]): Promise<void> {
  for (const ask_id of ask_ids) {
    const prompt = await tx.prompts.intact(ask_id);
    if (prompt !== undefined)
      await recordCancel(tx, prompt, { by: 'hive run', via: 'cli', reason: 'withdrawn' });
  }
}

/**
 * The questions of a sleeping run block it: without their answers its agent is not started again. A finished run waits for
 * nothing.
 */
async function recordWaits(tx: WriteTx, { run_id, session_id, status, calls }: Run): Promise<void> {
  if (status === 'ended') {
    await endWait(tx, run_id);
    // If its session ended while it slept, nobody waits for the open questions.
    if ((await tx.sessions.get(session_id))?.state === 'ended') await markOrphaned(tx, session_id, true);
  }
  if (status !== 'sleeping') return;
  // Its session has ended with the agent, but the run waits for them.
  await markOrphaned(tx, session_id, false);
  for (const { ask_id } of calls) {
    const prompt = await tx.prompts.intact(ask_id);
    if (prompt !== undefined) await blockUntilSettled(tx, prompt, { wait_id: run_id, since: tx.now });
  }
}

/** Whether a sleeping run continues. */
async function isAnswered(tx: ReadTx, run: Run): Promise<boolean> {
  const pending = new Set<string>();
  for (const { ask_id } of run.calls)
    if ((await tx.prompts.intact(ask_id))?.status === 'pending') pending.add(ask_id);
  return mayGoOn(run, (ask_id) => pending.has(ask_id));
}
