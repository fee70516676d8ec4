/**
 * A desk and a buffer of agent-shell answer the same permission at about the same time: the glue in a real Emacs with a real
 * sidecar, many times over.
 */
import { expect } from 'vitest';
import type { Prompt } from '../../src/domain/prompts.ts';
import { beginShell, OFFERED, shellOf } from './agent-shell.ts';
import { answerDialog } from './dialogs.ts';
import { lisp } from './emacs.ts';
import { driveEmacs } from './emacs-driver.ts';
import { eventsOf, openTestHive, SEAT, withoutQuotas } from './hive.ts';
import { trusting } from './human-file.ts';
import { tempStore } from './temp.ts';
import { lots, moment } from './wait.ts';

/** In one run of a seed. */
export const RACES = 200;
/** So many wait at once. */
const TOGETHER = 20;
/** How long one side may hesitate. */
const HESITATION_MS = 15;

/** The act of this Emacs' human: it presses an option while its dialog is there, or answers in the list of Hive. */
const ACT = `(progn
  (defun race-shown-p (id)
    (with-current-buffer shell
      (save-excursion (goto-char (point-min)) (search-forward (format "[dialog %s]\\n" id) nil t))))
  (defun race-wait (ms)
    (let ((end (+ (float-time) (/ ms 1000.0))))
      (while (< (float-time) end) (accept-process-output nil (max 0.001 (- end (float-time)))))))
  (defun race-press (id)
    (when (race-shown-p id) (with-current-buffer shell (stand-in-press id "always")))
    t)
  (defun race-answer (ask-id)
    (hive-respond-send (driver-wait (hive-model-prompt ask-id))
                       (list :decision "Reject" :selected ["Reject"])))
  t)`;

export async function raceDeskAndBuffer(seed: number): Promise<void> {
  const store = tempStore();
  const hive = await withoutQuotas(await openTestHive(store));
  const emacs = await driveEmacs(store, { env: trusting({ seats: [SEAT] }) });
  const { inShell, answers, settle, pending } = shellOf(emacs, hive);
  await beginShell(emacs);
  await emacs.eval(ACT);
  const draw = lots(seed);
  const outcomes = { desk: 0, buffer: 0, late: 0 };
  const late: string[] = [];

  const press = (id: number, before = ''): Promise<unknown> =>
    emacs.eval(`(progn ${before} (race-press ${id}))`);

  /** Both sides answer. Returns what the desk chose, as the agent calls it. */
  async function race({ ask_id }: Prompt, id: number): Promise<string> {
    const [decision, option] = draw() < 0.5 ? (['Allow', 'once'] as const) : (['Reject', 'no'] as const);
    const answer = async (): Promise<void> => {
      const { outcome, prompt } = await answerDialog(hive, ask_id, decision);
      expect(outcome === 'accepted').toBe(prompt.status === 'responded');
    };
    const [here, there] = [draw() * HESITATION_MS, draw() * HESITATION_MS];
    const order = Math.floor(draw() * 8);
    // The buffer is first, and the sidecar has perhaps not heard of it.
    if (order === 0) await press(id).then(answer);
    // The desk is first: this Emacs has perhaps not heard of it, or it has.
    else if (order === 1) await answer().then(() => press(id));
    else if (order === 2) await answer().then(() => press(id, `(driver-wait (not (race-shown-p ${id})))`));
    // The desk is this Emacs.
    else if (order === 3) {
      const steps = [`(race-answer ${lisp(ask_id)})`, `(race-wait ${here})`, `(race-press ${id})`];
      await emacs.eval(`(progn ${(draw() < 0.5 ? steps : steps.toReversed()).join(' ')} t)`);
      return 'no';
    } else await Promise.all([moment(there).then(answer), press(id, `(race-wait ${here})`)]);
    return option;
  }

  for (let first = 0; first < RACES; first += TOGETHER) {
    await inShell(`(progn (dotimes (n ${TOGETHER})
    (stand-in-ask (+ ${first} n) (list (cons 'command (format "make %s" (+ ${first} n)))))) ${OFFERED} t)`);
    const asked = new Map<number, Prompt>();
    const chosen = new Map<number, string>();
    for (const prompt of await pending(TOGETHER))
      asked.set(Number(/^Run make (\d+)\?$/.exec(prompt.question)?.[1]), prompt);
    for (const [id, prompt] of [...asked].toSorted(() => draw() - 0.5))
      chosen.set(id, await race(prompt, id));
    await emacs.eval(`(progn (driver-wait (and (null (hive-outbox-entries 'pending))
    (with-current-buffer shell (zerop (stand-in-dialogs))))) t)`);
    await settle();
    await pending(0);
    const given = (await answers()).slice(first);
    expect(given.map(([, id]) => Number(id)).sort((a, b) => a - b)).toEqual(
      Array.from({ length: TOGETHER }, (_, n) => first + n),
    );
    for (const [id, { ask_id }] of asked) {
      const option = given.find((answer) => answer[1] === String(id))?.[2];
      const { status, cancel_reason, late_response } = await hive.prompts.get(ask_id);
      if (status === 'cancelled') {
        outcomes.buffer += 1;
        expect([option, cancel_reason]).toEqual(['always', 'answered_elsewhere']);
        // The person at the desk reads that it was too late, and the answer is kept.
        expect(late_response).not.toBeNull();
      } else if (option === 'always') {
        outcomes.late += 1;
        late.push(ask_id);
      } else {
        outcomes.desk += 1;
        expect(option).toBe(chosen.get(id));
        expect((await hive.prompts.get(ask_id)).collected_at).not.toBeNull();
      }
    }
  }
  expect(await answers()).toHaveLength(RACES);
  const told = (await eventsOf(hive, 'desk/notice'))
    .filter(({ data }) => String(data['text']).includes('came too late'))
    .map(({ data }) => String(data['ask_id']));
  expect(told.sort()).toEqual(late.sort());
  expect(outcomes.desk + outcomes.buffer + outcomes.late).toBe(RACES);
  expect(Math.min(outcomes.desk, outcomes.buffer, outcomes.late)).toBeGreaterThan(0);
}
