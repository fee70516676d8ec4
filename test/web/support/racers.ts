/** Those who answer the same questions at once: a phone in a browser of its own, and an Emacs. Each can be killed and starts again. */
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { build } from 'esbuild';
import type { Page } from 'playwright-core';
import { type Child, ROOT, spawnChild } from '../../support/children.ts';
import { type EmptyHome, lisp } from '../../support/emacs.ts';
import { emacsOutbox } from '../../support/emacs-crash.ts';
import { tempFolder } from '../../support/temp.ts';
import { eventually } from '../../support/wait.ts';
import { type Chromium, startChromium } from './chromium.ts';
import { pair, type ServedInbox } from './inbox.ts';
import type { RacePage, Report } from './race-page.ts';

export interface Racer {
  readonly name: string;
  /** kill -9. It starts again. */
  kill(): Promise<void>;
  /** How many unsent answers were found when it had started again, in all. */
  left(): number;
}

export interface Phone extends Racer {
  /** Resolves once it has queued so many answers more, and then waits until it is let go. */
  held(more: number): Promise<() => void>;
  /** Answers all of these, and starts again if it was killed; `unanswered`: those that the store has no answer of it to. */
  answer(ask_ids: readonly string[], unanswered: () => string[]): Promise<void>;
}

export interface Emacs extends Racer {
  /** How many answers it has said to be in its outbox. */
  queued(): number;
  stop(): Promise<void>;
}

/** Hears what a racer reports. */
export type Hear = (by: string, said: Report) => void;

/** A phone that is paired with the inbox at this address, and keeps what it stores when it is killed. */
export async function startPhone(
  inbox: ServedInbox,
  { name, url, hear }: { name: string; url: string; hear: Hear },
): Promise<Phone> {
  const folder = tempFolder();
  const script = await racePage();
  let browser: Chromium;
  let page: Page;
  let killed = false;
  let left = 0;
  let hold = { after: 0, begin: (_letGo: () => void): void => undefined };

  async function start(): Promise<Page> {
    browser = await startChromium(folder);
    await browser.kept.exposeFunction('report', async (said: Report) => {
      hear(name, said);
      if (said.step !== 'queued') return;
      hold.after -= 1;
      if (hold.after === 0) await new Promise<void>(hold.begin);
    });
    return browser.kept.newPage();
  }
  /** A page of the inbox that is not the inbox: that would send what is queued, too. */
  const goAside = (): Promise<void> => visit(page, `${url}/manifest.webmanifest`);
  async function startAgain(): Promise<void> {
    killed = false;
    page = await start();
    await goAside();
    left += await queuedIn(page);
    // The inbox sends what the dead browser has left.
    await visit(page, url);
    await eventually(async () => (await queuedIn(page)) === 0, undefined, `an empty outbox of ${name}`);
    await goAside();
    await page.evaluate(script);
  }

  page = await start();
  await pair(page, { ...inbox, url }, name);
  await goAside();
  await page.evaluate(script);
  return {
    name,
    left: () => left,
    held: (more) =>
      new Promise((resolve) => {
        hold = { after: more, begin: resolve };
      }),
    async kill() {
      killed = true;
      await browser.child.kill('SIGKILL');
    },
    async answer(ask_ids, unanswered) {
      for (let ids = [...ask_ids]; ids.length > 0; ids = unanswered()) {
        const answered = page.evaluate(
          ([some, label]) => (globalThis as unknown as { race: RacePage }).race.answerAll(some, label),
          [ids, name] as const,
        );
        const failed = await answered.then(
          () => null,
          (error: unknown) => error ?? 'nothing',
        );
        if (failed !== null && !killed) throw failed;
        // It may have been killed once everything was answered.
        if (killed) await startAgain();
      }
    },
  };
}

/** Loads a page until it works, as a person does: the connection may be cut, also while the script of the inbox is loaded. */
async function visit(page: Page, url: string): Promise<void> {
  const visited = async (): Promise<boolean> => {
    try {
      await page.goto(url);
      return await page.evaluate(() => document.getElementById('app')?.childElementCount !== 0);
    } catch {
      return false;
    }
  };
  await eventually(visited, undefined, url);
}

/** How many answers wait in the outbox of this page. */
function queuedIn(page: Page): Promise<number> {
  return page.evaluate(
    () =>
      new Promise<number>((resolve, reject) => {
        const opening = indexedDB.open('hive-inbox');
        opening.onerror = () => reject(opening.error);
        opening.onsuccess = () => {
          const reading = opening.result.transaction('outbox').objectStore('outbox').getAll();
          reading.onsuccess = () => {
            opening.result.close();
            resolve(reading.result.filter(({ fate }) => fate.state === 'queued').length);
          };
        };
      }),
  );
}

/** A real Emacs in this home, which answers some of what waits until it is stopped, through its own outbox. */
export async function startEmacs(
  home: EmptyHome,
  { name, seed, hear }: { name: string; seed: number; hear: Hear },
): Promise<Emacs> {
  let lives = 0;
  let queued = 0;
  let left = 0;

  function start(): { child: Child; connected: string } {
    const { args, env, connected } = home.arguments("(require 'hive-answer-on)");
    const form = `(hive-answer-some ${lisp(name)} ${seed + lives})`;
    const load = ['-L', join(ROOT, 'test/emacs'), ...args, '--eval', form];
    const child = spawnChild('emacs', ['-Q', '--batch', ...load], env);
    lives += 1;
    createInterface({ input: child.process.stderr }).on('line', (line) => {
      const [step, ask_id = '', response_id = '', fate, decision = ''] = line.split(' ');
      if (step === 'queued') {
        queued += 1;
        hear(name, { step, ask_id, response_id });
      } else if (step === 'settled') hear(name, { step, ask_id, response_id, won: fate === 'won', decision });
    });
    return { child, connected };
  }
  let { child, connected } = start();
  await eventually(() => existsSync(connected), undefined, 'the connection of Emacs');
  return {
    name,
    queued: () => queued,
    left: () => left,
    async kill() {
      await child.kill('SIGKILL');
      left += emacsOutbox(home).pending.length;
      ({ child, connected } = start());
    },
    async stop() {
      await child.kill('SIGKILL');
    },
  };
}

/** The modules of the page that answer, for a page to run. */
async function racePage(): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [join(ROOT, 'test/web/support/race-page.ts')],
    bundle: true,
    format: 'iife',
    jsx: 'automatic',
    jsxImportSource: 'preact',
    write: false,
    absWorkingDir: ROOT,
    nodePaths: [join(createRequire(import.meta.url).resolve('preact'), '../../..')],
  });
  return outputFiles[0]?.text ?? '';
}
