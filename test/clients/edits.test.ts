/**
 * Client suite: what a person is shown of an edit is what the real client does. Random edits of random files go to the client;
 * the diff that Hive shows is applied by a patcher of our own, and the bytes of the file are equal. `npm run fuzz` compares
 * 10,000 of each client, and prints how many.
 *
 * @module-tag as-displayed
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect, inject, onTestFinished, test } from 'vitest';
import { outputOf, spawnChild } from '../support/children.ts';
import { tempFolder } from '../support/temp.ts';
import { type Reply, startModel } from './support/anthropic.ts';
import { claudeEnvironment, writeFile } from './support/claude.ts';
import {
  type Claim,
  claimOf,
  claudeCases,
  codexCases,
  differenceFrom,
  type EditCase,
  FILE,
  joinedPatch,
} from './support/edit-cases.ts';

const clients = inject('clients');

/** `npm run fuzz` tries many from a new seed, `npm run ci:clients` a few from the same one. */
const isLong = Number(process.env['HIVE_TEST_FUZZ_MINUTES'] ?? 0) > 0;
const COUNT = Number(process.env['HIVE_TEST_EDITS'] ?? (isLong ? 10_000 : 100));
const SEED = Number(process.env['HIVE_TEST_FUZZ_SEED'] ?? (isLong ? Date.now() & 0x7fffff : 20_261_127));
/** In one step of the scripted model, or in one patch. */
const BATCH = 50;
/** In one conversation: the client sends all of it with each step. */
const BATCHES = 8;
const LONG_MS = 3 * 60 * 60 * 1000;

const folderOf = (n: number): string => `case-${n}`;

/** The next cases, each with its file in a folder of its own. */
function lay(home: string, cases: Iterator<EditCase>): EditCase[] {
  return Array.from({ length: BATCH }, (_, n) => {
    const one = cases.next().value as EditCase;
    layOne(home, one, n);
    return one;
  });
}

function layOne(home: string, { before }: EditCase, n: number): void {
  const folder = join(home, folderOf(n));
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  if (before !== null) writeFileSync(join(folder, FILE), before);
}

/** How many cases were compared, and those in which the file is not as claimed. */
interface Comparison {
  compared: number;
  wrong: string[];
}

/** Compares the file of a case with what was claimed of it. */
function compare(comparison: Comparison, home: string, n: number, { input }: EditCase, claim: Claim): void {
  const path = join(home, folderOf(n), claim.file);
  const found = existsSync(path) ? readFileSync(path, 'utf8') : null;
  const difference = differenceFrom(claim, found);
  comparison.compared += 1;
  if (difference !== null)
    comparison.wrong.push(JSON.stringify({ before: claim.before, input, found, difference }));
}

function report(program: string, { compared, wrong }: Comparison): void {
  const { stdout } = spawnSync(program, ['--version'], { encoding: 'utf8' });
  process.stdout.write(
    `edits of ${stdout.trim()}: ${compared} compared, seed ${SEED}, ${wrong.length} differ\n`,
  );
  const all = `${wrong.length} of ${compared} edits differ from what is shown (HIVE_TEST_FUZZ_SEED=${SEED}).`;
  expect(wrong.slice(0, 8), all).toEqual([]);
}

/** Claude Code asks this before each edit; it is always allowed. */
async function startAllowing(asked: (name: string, input: Record<string, unknown>) => void): Promise<string> {
  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let body = '';
    for await (const chunk of request) body += String(chunk);
    const { tool_name, tool_input } = JSON.parse(body) as {
      tool_name: string;
      tool_input: Record<string, unknown>;
    };
    asked(tool_name, tool_input);
    const decision = { hookEventName: 'PermissionRequest', decision: { behavior: 'allow' } };
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ hookSpecificOutput: decision }));
  }
  const server = createServer((request, response) => {
    answer(request, response).catch((error: unknown) => response.writeHead(500).end(String(error)));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}

test('an edit of Claude Code does what its diff shows', { timeout: LONG_MS }, async () => {
  const folder = tempFolder();
  const comparison: Comparison = { compared: 0, wrong: [] };
  const cases = claudeCases(SEED);
  let batch: EditCase[] = [];
  let claims = new Map<number, { asked: EditCase; claim: Claim }>();
  const url = await startAllowing((name, input) => {
    const path = String(input['file_path']);
    const n = Number(/case-(\d+)/.exec(path)?.[1]);
    const asked = { before: batch[n]?.before ?? null, name, input };
    const claim = claimOf(asked, { client: 'claude-code', version: '2.1.330', path });
    if (claim !== null) claims.set(n, { asked, claim });
  });
  const finish = (): void => {
    for (const [n, { asked, claim }] of claims) compare(comparison, folder, n, asked, claim);
    claims = new Map();
  };
  mkdirSync(join(folder, '.claude'));
  const hooks = { PermissionRequest: [{ matcher: 'Edit|Write', hooks: [{ type: 'http', url }] }] };
  writeFile(folder, '.claude/settings.json', { hooks });
  while (comparison.compared < COUNT) {
    const before = comparison.compared;
    const path = (n: number): string => join(folder, folderOf(n), FILE);
    const model = await startModel((_, step): Reply => {
      if (step % 2 === 0)
        return {
          calls: batch.map(({ name, input }, n) => ({ name, input: { ...input, file_path: path(n) } })),
        };
      finish();
      if (step > 2 * BATCHES || comparison.compared >= COUNT) return { text: 'done' };
      batch = lay(folder, cases);
      return {
        calls: batch.flatMap(({ before: text }, n) =>
          text === null ? [] : [{ name: 'Read', input: { file_path: path(n) } }],
        ),
      };
    });
    const child = spawnChild(
      clients.claude,
      ['-p', 'edit'],
      claudeEnvironment({ clients, folder, store: join(folder, 'no-store'), model }),
    );
    child.process.stdin.end();
    await outputOf(child);
    if (comparison.compared === before)
      throw new Error(`No edit was compared: ${model.told().slice(0, 2_000)}`);
  }
  report(clients.claude, comparison);
});

test('a patch of Codex does what its diff shows', { timeout: LONG_MS }, () => {
  const folder = tempFolder();
  const comparison: Comparison = { compared: 0, wrong: [] };
  const cases = codexCases(SEED);
  // The part of the program that its tool apply_patch runs.
  const apply = (some: readonly EditCase[], first: number): string | null => {
    const patch = joinedPatch(some, (n) => folderOf(first + n));
    const done = spawnSync(clients.codexProgram, ['--codex-run-as-apply-patch', patch], {
      cwd: folder,
      encoding: 'utf8',
    });
    return done.status === 0 ? null : done.stderr;
  };
  while (comparison.compared < COUNT) {
    const known: { one: EditCase; claim: Claim }[] = [];
    while (known.length < BATCH) {
      const one = cases.next().value as EditCase;
      const claim = claimOf(one, { client: 'codex', version: '0.169.0' });
      if (claim === null) continue;
      layOne(folder, one, known.length);
      known.push({ one, claim });
    }
    const isDone = apply(
      known.map(({ one }) => one),
      0,
    );
    for (const [n, { one, claim }] of known.entries()) {
      // It stops at the first one that it refuses, so then each is tried alone.
      if (isDone !== null) layOne(folder, one, n);
      const refused = isDone === null ? null : apply([one], n);
      if (refused === null) compare(comparison, folder, n, one, claim);
      else comparison.wrong.push(JSON.stringify({ before: one.before, input: one.input, refused }));
    }
  }
  report(clients.codexProgram, comparison);
});
