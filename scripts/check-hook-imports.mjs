// What `hive hook` imports. It starts for each event of an agent, so it loads no package: `pg` only when the store is
// PostgreSQL and `pgpass` when that asks for a password, `diff` only for a permission to edit a file, and never node-notifier, ws and jsonc-parser, which belong to the
// hive's notifier, its control of Codex and its list of rules: a hook shows no popup, interrupts nobody and writes no rule.
// Of Node itself it loads at once only what is cheap; node:crypto alone takes 5 ms of the 25 in which a bare Node starts, and
// the rest comes with process.getBuiltinModule() when it is needed. The layers are checked by .dependency-cruiser.mjs.
// And what every command loads before its own file: once this was the whole program, and `hive --version` took 10 ms more.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { importsOf } from './read-imports.mjs';

const ENTRY = 'cli/hook.ts';
const MAIN = 'cli/main.ts';
const CHEAP = ['node:fs', 'node:os', 'node:path', 'node:sqlite', 'node:timers/promises'];
const LATE = ['pg', 'pgpass', 'diff', 'node-notifier', 'ws', 'jsonc-parser'];

const src = join(import.meta.dirname, '../src');
const files = readdirSync(src, { recursive: true }).filter((name) => name.endsWith('.ts'));
const imports = new Map(files.map((file) => [file, importsOf(join(src, file), src)]));

const atOnce = packagesFrom(ENTRY, ({ isLazy }) => !isLazy).filter(({ target }) => !CHEAP.includes(target));
const ever = packagesFrom(ENTRY, () => true).filter(
  ({ target }) => !target.startsWith('node:') && !LATE.includes(target),
);
const wrong = [...atOnce, ...ever].map(
  ({ file, target }) => `src/${file} must not import "${target}" at once: hive hook reaches it.`,
);
wrong.push(
  ...filesFrom(MAIN, ({ isLazy }) => !isLazy)
    .filter((file) => /^(application|adapters|infrastructure)\/|^open-hive\.ts$/.test(file))
    .map((file) => `src/${MAIN} must not reach src/${file} at once: every command would load it.`),
);
for (const line of new Set(wrong)) console.log(line);
process.exitCode = wrong.length > 0 ? 1 : 0;

// The packages that a file reaches at run time over the imports that count.
function packagesFrom(entry, counts) {
  return filesFrom(entry, counts).flatMap((file) =>
    edgesOf(file, counts)
      .filter((edge) => edge.isPackage)
      .map((edge) => ({ file, ...edge })),
  );
}

// The files of ours that a file reaches in the same way, and itself.
function filesFrom(entry, counts) {
  const reached = new Set([entry]);
  for (const file of reached)
    for (const edge of edgesOf(file, counts)) if (!edge.isPackage) reached.add(edge.target);
  return [...reached];
}

function edgesOf(file, counts) {
  return (imports.get(file) ?? []).filter((edge) => !edge.isType && counts(edge));
}
