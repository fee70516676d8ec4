/**
 * A long day at the desk, in a minute: thousands of questions arrive, are settled by others, cancelled, or
 * expire, with the list of them in a window, while the human types in the one beside it.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { lisp, openHome } from '../support/emacs.ts';
import { HUMAN, openTestHive, withoutQuotas } from '../support/hive.ts';
import { eventually, moment, textOf } from '../support/wait.ts';

const PROMPTS = 5_000;
/** Emacs has its full size when it has seen what it keeps: the questions at hand and 200 that were settled. */
const WARM = 2_000;
/** How many are pending at any time. */
const WAITING = 200;

test(`${PROMPTS} questions come and go: no key is lost, nothing fails, Emacs does not grow`, {
  timeout: 900_000,
}, async () => {
  const home = await openHome();
  const hive = await withoutQuotas(await openTestHive(home.store));
  const file = join(home.folder, 'typed.txt');
  writeFileSync(file, '');
  const emacs = await home.emacs(`(progn (setq echo-keystrokes 0 hive-side-window 'bottom)
    (add-hook 'hive-connected-hook (lambda () (find-file ${lisp(file)}))))`);
  await emacs.until(/typed\.txt/);
  const pid = await emacs.pid();
  const sizes: number[] = [];

  let coming = true;
  let typed = '';
  const typing = (async () => {
    for (let line = 1; coming; line += 1) {
      const text = `${line}: nothing that I type is lost, whatever comes`;
      await emacs.enter(text);
      typed += `${text}\n`;
      // A command that reads keys itself continues as well. (Not ended by C-g: Emacs then drops what is typed ahead.)
      if (line % 10 === 0) await emacs.keys('C-r', 'noth', 'Enter', 'M->');
    }
  })();

  const waiting: string[] = [];
  for (let number = 1; number <= PROMPTS; number += 1) {
    // Every third expires by itself.
    const timeout = number % 3 === 0 ? { timeout_ms: 1_000 } : {};
    const { prompt } = await home.agent.prompts.ask({
      question: `Question ${number}: shall it be done?`,
      options: ['yes', 'no'],
      ...timeout,
    });
    waiting.push(prompt.ask_id);
    const oldest = waiting.length > WAITING ? waiting.shift() : undefined;
    if (oldest !== undefined) await settle(oldest, number);
    // Otherwise the store would leave no time to type.
    await moment(8);
    if (number >= WARM && number % 100 === 0) sizes.push(residentMemory(pid));
  }
  for (const ask_id of waiting) await settle(ask_id, 1);
  coming = false;
  await typing;

  await emacs.until(/^(?![\s\S]*hive \d+\b)/, 60_000);
  await emacs.keys('C-x', 'C-s');
  await eventually(() => readFileSync(file, 'utf8') === typed, 30_000, 'every key in the file').catch(
    () => {},
  );
  expect(readFileSync(file, 'utf8')).toBe(typed);
  expect(typed.split('\n').length).toBeGreaterThan(100);

  const said = join(home.folder, 'said');
  await emacs.evaluate(`(write-region (concat (with-current-buffer "*Messages*" (buffer-string))
    (if (get-buffer "*hive log*") (with-current-buffer "*hive log*" (buffer-string)) "")) nil ${lisp(said)} nil 0)`);
  // The sidecar may log that there is no desktop here.
  const lines = (await textOf(said)).split('\n');
  expect(
    lines.filter((line) => !/ sidecar: /.test(line) && /error|wrong type|void|debugger|invalid/i.test(line)),
  ).toEqual([]);

  const part = Math.floor(sizes.length / 3);
  const growth = mean(sizes.slice(-part)) / mean(sizes.slice(0, part));
  expect(growth, `MiB of Emacs: ${sizes.map(Math.round).join(' ')}`).toBeGreaterThan(0.95);
  expect(growth, `MiB of Emacs: ${sizes.map(Math.round).join(' ')}`).toBeLessThan(1.05);

  async function settle(ask_id: string, number: number): Promise<void> {
    if (number % 2 === 0) await hive.prompts.respond({ ask_id, decision: 'yes', actor: HUMAN });
    else await home.agent.prompts.cancel(ask_id);
  }
});

function residentMemory(pid: number): number {
  return Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
