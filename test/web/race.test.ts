/**
 * Many answers of two phones, over connections that are cut and a server that is killed, while a shell answers too: none is
 * lost, none counts twice, and each question has one winner. `HIVE_TEST_ANSWERS` says how many.
 * @module-tag one-winner
 * @module-tag durable
 */
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { build } from 'esbuild';
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import type { AskRequest } from '../../src/domain/prompts.ts';
import { ROOT } from '../support/children.ts';
import { eventsOf, HUMAN, introduce } from '../support/hive.ts';
import { eventually, lots, moment } from '../support/wait.ts';
import { openContext, startChromium } from './support/chromium.ts';
import { cuttingProxy } from './support/cutting-proxy.ts';
import { pair, type ServedInbox, serveInbox } from './support/inbox.ts';
import type { RacePage } from './support/race-page.ts';

const ANSWERS = Number(process.env['HIVE_TEST_ANSWERS'] ?? 10_000);
/** Questions that are open at once. */
const BATCH = 100;
/** Ends a run that hangs: 1,000 answers take less than a minute. */
const LIMIT_MS = 180_000 + ANSWERS * 300;

test(`${ANSWERS} answers of two phones and a human at a desk`, { timeout: LIMIT_MS }, async () => {
  const inbox = await serveInbox();
  const proxy = await cuttingProxy(inbox.port);
  const url = `http://127.0.0.1:${proxy.port}/inbox`;
  const chromium = await startChromium();
  const phones = await Promise.all(
    ['One', 'Other'].map(async (name) => {
      const context = await openContext(chromium);
      const page = await context.newPage();
      await pair(page, { ...inbox, url }, name);
      // The inbox itself would send what is queued, too.
      await page.goto(`${url}/manifest.webmanifest`);
      await page.evaluate(await racePage());
      return { name, page };
    }),
  );
  const random = lots(20_260_111);
  const told: Told[] = [];
  for (let first = 0; first < ANSWERS; first += BATCH) {
    const asked = await askMany(inbox, Math.min(BATCH, ANSWERS - first));
    const ended = { yet: false };
    const troubles = trouble(inbox, proxy, random, ended);
    const [desk, ...fates] = await Promise.all([
      answerAtDesk(inbox, asked, random),
      ...phones.map(({ name, page }) => answerAll(page, asked, name)),
    ]).finally(() => {
      ended.yet = true;
    });
    await troubles;
    told.push(...desk, ...fates.flat());
  }

  const winners = Map.groupBy(
    told.filter(({ won }) => won),
    ({ ask_id }) => ask_id,
  );
  const settled = Map.groupBy(await eventsOf(inbox.hive, 'prompt/responded'), ({ subject }) => subject ?? '');
  expect(settled.size, 'answered questions').toBe(ANSWERS);
  const wrong = [...settled].filter(([ask_id, events]) => {
    const [winner, ...others] = winners.get(ask_id) ?? [];
    return events.length !== 1 || others.length > 0 || winner?.decision !== events[0]?.data['decision'];
  });
  expect(wrong).toEqual([]);
  // Whoever lost has read whose answer counts.
  expect(
    told.filter(({ ask_id, decision }) => decision !== settled.get(ask_id)?.[0]?.data['decision']),
  ).toEqual([]);
  // Every phone knows the fate of every answer.
  expect(told.filter(({ by }) => by !== 'desk').length).toBe(2 * ANSWERS);
});

/** What somebody was told about one question. */
interface Told {
  ask_id: string;
  by: string;
  won: boolean;
  /** The answer that counts, as they were told. */
  decision: string;
}

async function askMany({ hive }: ServedInbox, count: number): Promise<string[]> {
  const session = await introduce(hive);
  const request: AskRequest = { question: 'Which?', options: ['One', 'Other', 'desk'] };
  const ids: string[] = [];
  for (let n = 0; n < count; n += 1) ids.push((await hive.prompts.ask(request, session)).prompt.ask_id);
  return ids;
}

/** The page's own outbox answers all of them; what it learns of each. */
async function answerAll(page: Page, ask_ids: string[], name: string): Promise<Told[]> {
  const fates = await page.evaluate(
    ([ids, label]) => (globalThis as unknown as { race: RacePage }).race.answerAll(ids, label),
    [ask_ids, name] as const,
  );
  return fates.map((fate) => ({ ...fate, by: name }));
}

/** A human at a desk answers some of them. */
async function answerAtDesk({ hive }: ServedInbox, ask_ids: string[], random: () => number): Promise<Told[]> {
  const told: Told[] = [];
  for (const ask_id of ask_ids) {
    if (random() > 0.1) continue;
    const { outcome, prompt } = await hive.prompts.respond({ ask_id, selected: ['desk'], actor: HUMAN });
    told.push({ ask_id, by: 'desk', won: outcome === 'accepted', decision: prompt.decision ?? '' });
    await moment(random() * 20);
  }
  return told;
}

/** Cuts connections until it has ended, and kills the server once. */
async function trouble(
  inbox: ServedInbox,
  proxy: { cut(): void },
  random: () => number,
  ended: { yet: boolean },
): Promise<void> {
  await moment(random() * 300);
  await inbox.kill();
  await inbox.start();
  while (!ended.yet) {
    await moment(200 + random() * 1_000);
    proxy.cut();
  }
  await eventually(() => ended.yet);
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
