/**
 * kill -9 of an agent in agent-shell, of its Emacs and of the sidecar under it, while dialogs are open and in the middle of an
 * answer: nothing hangs, nothing is allowed that nobody gave, and what still waits is asked once.
 *
 * @module-tag silence
 * @module-tag one-winner
 * @module-tag emacs
 */
import { existsSync, readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import type { Prompt } from '../../src/domain/prompts.ts';
import type { OpenedHive } from '../../src/open-hive.ts';
import { beginShell, type Shell, SOME_PROCESS, shellOf } from '../support/agent-shell.ts';
import { answerDialog } from '../support/dialogs.ts';
import { lisp } from '../support/emacs.ts';
import { type DrivenEmacs, driveEmacs } from '../support/emacs-driver.ts';
import { openTestHive, SEAT, withoutQuotas } from '../support/hive.ts';
import { trusting } from '../support/human-file.ts';
import { suspend } from '../support/suspend.ts';
import { tempFolder, tempStore } from '../support/temp.ts';
import { eventually, lots, moment } from '../support/wait.ts';

let store: string;
let hive: OpenedHive;
beforeEach(async () => {
  store = tempStore();
  hive = await withoutQuotas(await openTestHive(store));
});

interface RealAgent {
  emacs: DrivenEmacs;
  shell: Shell;
  pid: number;
  /** Everything that reached the process of the agent. */
  got(): string;
}

/** An Emacs with an agent that is a process of its own. */
async function start(): Promise<RealAgent> {
  const emacs = await driveEmacs(store, { env: trusting({ seats: [SEAT] }) });
  const file = join(tempFolder(), 'got');
  const command = `(list "sh" "-c" ${lisp(`exec cat >'${file}'`)})`;
  await beginShell(emacs, {
    process: `(make-process :name "agent" :command ${command} :connection-type 'pipe)`,
  });
  const shell = shellOf(emacs, hive);
  const pid = (await shell.inShell('(process-id (stand-in--get :client :process))')) as number;
  return { emacs, shell, pid, got: () => (existsSync(file) ? readFileSync(file, 'utf8') : '') };
}

async function only(shell: Shell): Promise<string> {
  const [prompt] = await shell.pending();
  return prompt?.ask_id ?? '';
}

async function all(): Promise<Prompt[]> {
  return (await hive.prompts.list({ limit: 50 })).items;
}

/** Kills the agent, and waits until its Emacs knows it. */
async function killed(emacs: DrivenEmacs, pid: number): Promise<void> {
  process.kill(pid, 'SIGKILL');
  await emacs.eval('(progn (driver-wait (not (process-live-p (get-process "agent")))) (driver-settled) t)');
}

/** Waits until the sidecar that was killed has a successor. */
function restarted(emacs: DrivenEmacs): Promise<unknown> {
  return emacs.eval(
    '(progn (driver-wait (not (hive-sidecar-connected-p))) (driver-wait (hive-sidecar-connected-p)) (driver-settled) t)',
  );
}

describe('an agent that is killed', () => {
  test('takes its questions with it: a later answer is late, and reaches nobody', async () => {
    const { emacs, shell, pid, got } = await start();
    await shell.ask(0);
    await shell.ask(1);
    const prompts = await shell.pending(2);
    await killed(emacs, pid);
    // Emacs knows it at once, and says so. A sweep would have ended them for an unknown reason.
    await shell.pending(0);
    await eventually(async () => (await hive.sessions.list({ state: 'alive' })).length === 0);
    for (const { ask_id } of prompts) {
      expect(await hive.prompts.get(ask_id)).toMatchObject({
        status: 'cancelled',
        cancel_reason: 'withdrawn',
        decision: null,
      });
      expect(await answerDialog(hive, ask_id, 'Allow')).toMatchObject({ outcome: 'late' });
    }
    await shell.settle();
    expect(got()).not.toContain('answer');
    // Its buffer learns it, and the next agent there asks once.
    await shell.inShell('(progn (stand-in-fail) t)');
    await emacs.eval('(progn (setq shell (stand-in-start "Gemini")) t)');
    await shell.ask(0);
    await shell.pending(1);
  });

  test('and whose buffer has another process then, is there again under its old row', async () => {
    const { emacs, shell, pid } = await start();
    const alive = () => hive.sessions.list({ state: 'alive' });
    await shell.settle();
    const [row] = await alive();
    await killed(emacs, pid);
    await eventually(async () => (await alive()).length === 0);
    // A sidecar that is started now does not take it for one that lives.
    process.kill(await emacs.sidecar(), 'SIGKILL');
    await restarted(emacs);
    expect(await alive()).toEqual([]);
    await shell.inShell(`(progn (stand-in--put (list (cons :process ${SOME_PROCESS})) :client) t)`);
    await shell.ask(0);
    await shell.pending(1);
    expect((await alive()).map(({ session_id }) => session_id)).toEqual([row?.session_id]);
  });

  test('before Emacs knows it, gets no answer, and its human reads that', async () => {
    const { emacs, shell, got } = await start();
    await shell.ask(0);
    const ask_id = await only(shell);
    await shell.inShell('(progn (stand-in--put t :dead) t)');
    await answerDialog(hive, ask_id, 'Allow');
    await emacs.eval(`(progn (driver-wait (with-current-buffer "*hive log*" (save-excursion (goto-char (point-min))
      (search-forward "could not be given" nil t)))) t)`);
    expect(got()).not.toContain('answer');
    expect((await hive.prompts.get(ask_id)).collected_at).toBeNull();
    await shell.pending(0);
  });
});

test('an Emacs that is killed in the middle of an answer allows nothing, and the next one asks once', async () => {
  const first = await start();
  await first.shell.ask(0);
  const answered = await only(first.shell);
  await first.shell.ask(1);
  await first.shell.pending(2);
  await answerDialog(hive, answered, 'Allow');
  // It has been sent to Emacs, which reads nothing while no form is evaluated.
  await eventually(async () => (await hive.prompts.get(answered)).handed_at !== null);
  await first.emacs.kill('SIGKILL');
  await first.shell.pending(0);
  expect(first.got()).not.toContain('answer');
  expect((await hive.prompts.get(answered)).collected_at).toBeNull();
  await eventually(async () => (await hive.turns.running()).length === 0);
  // The agent has lost its input, and ends.
  await eventually(async () => {
    await hive.sessions.sweep(hostname());
    return (await hive.sessions.list({ state: 'alive' })).length === 0;
  });

  const next = await start();
  await next.shell.ask(0);
  await answerDialog(hive, await only(next.shell), 'Reject');
  expect(await next.shell.untilSent(1)).toEqual([['answer', '0', 'no']]);
  await eventually(() => next.got().includes('(answer 0 "no")'));
  expect(await all()).toHaveLength(3);
});

describe('a sidecar that is killed', () => {
  test('with an answer that is stored: the next one gives it to the agent, once, and asks nothing again', async () => {
    const { emacs, shell, got } = await start();
    await shell.ask(0);
    const ask_id = await only(shell);
    const sidecar = await emacs.sidecar();
    await suspend(sidecar, store);
    await answerDialog(hive, ask_id, 'Allow');
    process.kill(sidecar, 'SIGKILL');
    await restarted(emacs);
    expect(await shell.untilSent(1)).toEqual([['answer', '0', 'once']]);
    await eventually(() => got().includes('(answer 0 "once")'));
    await eventually(async () => (await hive.prompts.get(ask_id)).collected_at !== null);
    expect(await all()).toHaveLength(1);
  });

  test('with an answer that Emacs has not read: the agent gets it once', async () => {
    const { emacs, shell } = await start();
    await shell.ask(0);
    const ask_id = await only(shell);
    const sidecar = await emacs.sidecar();
    await answerDialog(hive, ask_id, 'Allow');
    await eventually(async () => (await hive.prompts.get(ask_id)).handed_at !== null);
    process.kill(sidecar, 'SIGKILL');
    await restarted(emacs);
    expect(await shell.untilSent(1)).toEqual([['answer', '0', 'once']]);
    expect(await all()).toHaveLength(1);
  });

  test('at any moment around an answer: one answer for each question, and one row at most', async () => {
    const { emacs, shell } = await start();
    const draw = lots(20);
    const ROUNDS = 8;
    for (let n = 0; n < ROUNDS; n += 1) {
      await shell.ask(n);
      const ask_id = await only(shell);
      // So that the next start is soon.
      const sidecar = await emacs.eval(
        '(progn (setq hive-rpc--delay 0.05) (process-id (jsonrpc--process hive-rpc-connection)))',
      );
      const [answer, kill] = [draw() * 30, draw() * 30];
      await Promise.all([
        moment(answer).then(() => answerDialog(hive, ask_id, 'Reject')),
        moment(kill).then(() => process.kill(sidecar, 'SIGKILL')),
      ]);
      await restarted(emacs);
      // The answer came when the next sidecar had withdrawn the question: then it is asked again.
      const again = (await hive.prompts.list({ status: 'pending', limit: 9 })).items;
      expect(again.length).toBeLessThanOrEqual(1);
      for (const prompt of again) await answerDialog(hive, prompt.ask_id, 'Reject');
      await shell.untilSent(n + 1);
      await shell.pending(0);
    }
    const ids = (await shell.answers()).map(([, id]) => Number(id));
    expect(ids).toEqual(Array.from({ length: ROUNDS }, (_, n) => n));
  });
});
