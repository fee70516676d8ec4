/**
 * `npm run bench`: what operations cost, compared with their floor in the same run (docs/internals/performance.md).
 * `--json` prints the rows as one array, `--only NAME` runs a part, `--full` also what takes long or needs the
 * registry, `--smoke` is short and fails only when a row cannot run or is beyond twice its target.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { ROOT, tidyUp } from './children.ts';
import { type Family, type Row, table, toRow } from './harness.ts';
import { draw } from './plot.ts';
import { acp } from './rows/acp.ts';
import { agent } from './rows/agent.ts';
import { answer } from './rows/answer.ts';
import { ask } from './rows/ask.ts';
import { emacs } from './rows/emacs.ts';
import { engines } from './rows/engines.ts';
import { expiry } from './rows/expiry.ts';
import { growth } from './rows/growth.ts';
import { history } from './rows/history.ts';
import { hook } from './rows/hook.ts';
import { idle } from './rows/idle.ts';
import { inbox } from './rows/inbox.ts';
import { interrupt } from './rows/interrupt.ts';
import { messages } from './rows/messages.ts';
import { peers } from './rows/peers.ts';
import { processes } from './rows/processes.ts';
import { serve } from './rows/serve.ts';
import { server } from './rows/server.ts';
import { tokens } from './rows/tokens.ts';
import { wake } from './rows/wake.ts';

const FAMILIES: readonly Family[] = [
  ask,
  answer,
  emacs,
  server,
  idle,
  history,
  hook,
  messages,
  interrupt,
  wake,
  expiry,
  acp,
  agent,
  engines,
  processes,
  serve,
  inbox,
  tokens,
];

/** Families that need the registry or much time: `npm run bench:full`, or `--only` one of them. */
const MORE: readonly Family[] = [growth, peers];

const { values } = parseArgs({
  options: {
    json: { type: 'boolean', default: false },
    smoke: { type: 'boolean', default: false },
    full: { type: 'boolean', default: false },
    only: { type: 'string', multiple: true },
  },
});

const all = [...FAMILIES, ...MORE];
const chosen = values.only?.flatMap(familiesOf) ?? (values.full ? all : FAMILIES);
if (chosen.length === 0) {
  process.stderr.write(`There is no such row; choose of: ${all.map(({ name }) => name).join(', ')}\n`);
  process.exit(1);
}

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => void tidyUp().then(() => process.exit(1)));
}

const rows: Row[] = [];
const broken: string[] = [];
for (const family of chosen) {
  if (!values.json) process.stderr.write(`measuring: ${family.rows.join(', ')}\n`);
  try {
    rows.push(...(values.smoke ? await measureShortly(family) : (await family.measure('full')).map(toRow)));
  } catch (error) {
    broken.push(`${family.name}: ${error instanceof Error ? error.message : String(error)}`);
  } finally {
    await tidyUp();
  }
}

if (values.json)
  process.stdout.write(`${JSON.stringify(rows.map(({ strain: _, point: __, ...row }) => row))}\n`);
else if (rows.length > 0) process.stdout.write(`\n${table(rows)}\n`);
if (values.full) for (const path of drawCurves(rows)) process.stderr.write(`drawn: ${path}\n`);
for (const line of broken) process.stderr.write(`could not be measured: ${line}\n`);
const far = values.smoke ? rows.filter(isFar) : [];
for (const { name } of far) process.stderr.write(`beyond twice its target: ${name}\n`);
process.exitCode = broken.length > 0 || far.length > 0 ? 1 : 0;

/** Draws the growth curves among the rows into docs/bench/; returns the files. */
function drawCurves(measured: readonly Row[]): string[] {
  const points = measured.flatMap(({ point, p50, unit }) =>
    point === null ? [] : [{ ...point, p50, unit }],
  );
  const folder = join(ROOT, 'docs/bench');
  mkdirSync(folder, { recursive: true });
  return [...Map.groupBy(points, ({ curve }) => curve)].map(([curve, own]) => {
    const [first] = own;
    const series = [...Map.groupBy(own, (point) => point.series)].map(([name, list]) => ({
      name,
      points: list.map(({ x, p50 }) => ({ x, y: p50 })),
    }));
    const path = join(folder, `${curve}.svg`);
    const [title, x, y] = [first?.title ?? curve, first?.axis ?? '', `p50, ${first?.unit}`];
    writeFileSync(path, draw({ title, x, y, series }));
    return path;
  });
}

/** A family by its name, else those with a row that has `part` in its name. */
function familiesOf(part: string): readonly Family[] {
  const named = all.filter(({ name }) => name === part);
  if (named.length > 0) return named;
  return all.filter(({ rows }) => rows.some((row) => row.toLowerCase().includes(part.toLowerCase())));
}

/** Few rounds, and a second try for rows far from their target: noise rarely comes twice, a regression does. */
async function measureShortly(family: Family): Promise<Row[]> {
  const first = (await family.measure('smoke')).map(toRow);
  if (!first.some(isFar)) return first;
  await tidyUp();
  const second = (await family.measure('smoke')).map(toRow);
  return first.map((row, index) => {
    const again = second[index];
    return again !== undefined && again.strain < row.strain ? again : row;
  });
}

/** The p99 of a few rounds is their worst, which says more about the machine than about us, so the median counts. */
function isFar({ of, p50, target, strain }: Row): boolean {
  if (target === null) return false;
  return of === 'p99' ? !(p50 <= 2 * target) : !(strain <= 2);
}
