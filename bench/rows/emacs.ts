/** A real Emacs with hive-mode, measured by its own clock: when a question reaches it, and for how long it blocks. */
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { editShown } from '../../src/domain/edits.ts';
import { editToolsAt } from '../../src/infrastructure/platform/edits.ts';
import { connectHive, type Environment, environment, HIVE, ROOT, start, tempFolder } from '../children.ts';
import { type Family, interleave, type Measurement } from '../harness.ts';

const PENDING = 1_000;
const MANY = 10_000;
const AGENTS = 200;

export const emacs: Family = {
  name: 'emacs',
  rows: [
    'ask → Emacs handler has run',
    `Emacs, one event, ${PENDING.toLocaleString('en')} pending`,
    `Emacs, the same with the list shown`,
    `Emacs, the same with the status buffer of ${AGENTS} agents shown`,
    'Emacs, that status buffer refreshed',
    `Emacs, list opened, ${MANY.toLocaleString('en')} pending`,
    'Emacs, the same refreshed',
    'Emacs, a snapshot of them taken',
    'Emacs, a hostile text of 64 KB shown',
    'Emacs, a diff of a file of 5,000 lines shown',
    'the same diff made by a hook',
  ],
  async measure(effort) {
    const folder = tempFolder();
    const lisp = compiled(folder);
    return [
      await arrival(folder, lisp, effort === 'full' ? 100 : 15),
      ...events(folder, lisp, effort === 'full' ? 2_000 : 200),
      ...list(folder, lisp, effort === 'full' ? 30 : 5),
      hostile(folder, lisp, effort === 'full' ? 10 : 2),
      ...diff(folder, lisp, effort === 'full' ? 100 : 10),
    ];
  },
};

/** hive-mode, byte-compiled as by a package manager. */
function compiled(folder: string): string {
  const lisp = join(folder, 'lisp');
  mkdirSync(lisp);
  cpSync(join(ROOT, 'elisp'), lisp, { recursive: true, filter: (path) => !path.endsWith('.elc') });
  const files = readdirSync(lisp).filter((name) => name.endsWith('.el'));
  execFileSync('emacs', ['-Q', '--batch', '-L', '.', '-f', 'batch-byte-compile', ...files], {
    cwd: lisp,
    env: environment(folder),
    stdio: 'ignore',
  });
  return lisp;
}

function batch(lisp: string, script: string): string[] {
  return ['-Q', '--batch', '-L', lisp, '-l', join(import.meta.dirname, '../emacs', script)];
}

async function arrival(folder: string, lisp: string, rounds: number): Promise<Measurement> {
  const child = start('emacs', batch(lisp, 'arrival.el'), {
    env: environment(folder, {
      BENCH_NODE: process.execPath,
      BENCH_HIVE: HIVE,
      BENCH_PARENT: `${process.pid}`,
    }),
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  if (child.stderr === null) throw new Error('Emacs has no stderr.');
  const lines = createInterface({ input: child.stderr });
  const said = (start: string): Promise<string> =>
    new Promise((resolve, reject) => {
      const late = setTimeout(() => reject(new Error(`Emacs did not say "${start}" within 20 s.`)), 20_000);
      lines.on('line', function look(line: string) {
        if (!line.startsWith(start)) return;
        clearTimeout(late);
        lines.off('line', look);
        resolve(line.slice(start.length).trim());
      });
    });
  await said('bench-ready');
  const agent = await connectHive(folder);
  const samples = await interleave(rounds, {
    async ask() {
      // Resolves when Emacs and its sidecar are idle again.
      await new Promise((resolve) => setTimeout(resolve, 40));
      const handled = said('bench-handled');
      const started = performance.timeOrigin + performance.now();
      await agent.call('hivemind_ask_async', { question: 'Go on?', options: ['yes', 'no'] });
      return Number(await handled) - started;
    },
  });
  child.kill('SIGTERM');
  return {
    name: 'ask → Emacs handler has run',
    unit: 'ms',
    samples: samples.ask,
    floor: null,
    target: { of: 'p50', at_most: 15 },
  };
}

/** The output of a script of bench/emacs: arrays of milliseconds. */
function measured(folder: string, lisp: string, script: string, extra: Environment): number[][] {
  const output = execFileSync('emacs', batch(lisp, script), {
    env: environment(folder, extra),
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  return JSON.parse(output) as number[][];
}

function events(folder: string, lisp: string, count: number): Measurement[] {
  const [plain = [], listed = [], status = [], refreshed = []] = measured(folder, lisp, 'event.el', {
    BENCH_PENDING: `${PENDING}`,
    BENCH_AGENTS: `${AGENTS}`,
    BENCH_EVENTS: `${count}`,
  });
  const target = { of: 'p99', at_most: 3 } as const;
  const name = `Emacs, one event, ${PENDING.toLocaleString('en')} pending`;
  return [
    { name, unit: 'ms', samples: plain, floor: null, target },
    { name: 'Emacs, the same with the list shown', unit: 'ms', samples: listed, floor: null, target },
    {
      ...{ name: `Emacs, the same with the status buffer of ${AGENTS} agents shown`, unit: 'ms' },
      // Garbage is collected every fifty events or so, which takes 30 ms: p99 would be that.
      ...{ samples: status, floor: null, target: { of: 'p50', at_most: 3 } },
    },
    {
      ...{ name: 'Emacs, that status buffer refreshed', unit: 'ms', samples: refreshed, floor: null },
      target: { of: 'p50', at_most: 80 },
    },
  ];
}

function list(folder: string, lisp: string, rounds: number): Measurement[] {
  const [opened = [], refreshed = [], taken = []] = measured(folder, lisp, 'list.el', {
    BENCH_PENDING: `${MANY}`,
    BENCH_ROUNDS: `${rounds}`,
  });
  const row = (name: string, samples: number[], at_most: number): Measurement => ({
    ...{ name, unit: 'ms', samples, floor: null },
    target: { of: 'p50', at_most },
  });
  return [
    row(`Emacs, list opened, ${MANY.toLocaleString('en')} pending`, opened, 150),
    row('Emacs, the same refreshed', refreshed, 60),
    row('Emacs, a snapshot of them taken', taken, 100),
  ];
}

/** A file of 5,000 lines with 100 changes far apart: 100 hunks, 20 KB. */
function diff(folder: string, lisp: string, rounds: number): Measurement[] {
  const lines = Array.from({ length: 5_000 }, (_, n) => `const a${n} = ${n};`);
  const file = join(folder, 'values.ts');
  writeFileSync(file, `${lines.join('\n')}\n`);
  const content = lines.map((line, n) => (n % 50 === 0 ? `${line} // ${n}` : line)).join('\n');
  const made: number[] = [];
  let context = '';
  for (let round = 0; round < rounds; round += 1) {
    const start = performance.now();
    const input = { file_path: file, content: `${content}\n` };
    const call = { client: 'claude-code', version: '2.1.330', directory: '/', name: 'Write', input } as const;
    context = editShown(call, editToolsAt('/'), 56_000)?.shown ?? '';
    made.push(performance.now() - start);
  }
  if (context.split('\n@@ ').length !== 101) throw new Error('The diff is not the one to be measured.');
  const path = join(folder, 'context');
  writeFileSync(path, `${context}\n\nTool: Write\nDirectory: /src\n`);
  const [shown = []] = measured(folder, lisp, 'diff.el', { BENCH_ROUNDS: `${rounds}`, BENCH_CONTEXT: path });
  const target = { of: 'p50', at_most: 50 } as const;
  return [
    { name: 'Emacs, a diff of a file of 5,000 lines shown', unit: 'ms', samples: shown, floor: null, target },
    { name: 'the same diff made by a hook', unit: 'ms', samples: made, floor: null, target },
  ];
}

function hostile(folder: string, lisp: string, rounds: number): Measurement {
  const [samples = []] = measured(folder, lisp, 'colour.el', { BENCH_ROUNDS: `${rounds}` });
  const name = 'Emacs, a hostile text of 64 KB shown';
  return { name, unit: 'ms', samples, floor: null, target: { of: 'p99', at_most: 50 } };
}
