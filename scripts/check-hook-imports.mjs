// The imports of `hive hook`. It starts for each event of an agent, so it loads no package at once: `pg` only when the store is
// PostgreSQL, `pgpass` when that asks for a password, and `diff` only for a permission to edit a file. It never loads
// node-notifier, ws and jsonc-parser, which the hive needs for its notifier, its control of Codex and its list of rules: a hook
// shows no popup, interrupts nobody and writes no rule. Of Node's modules it loads at once only cheap ones; node:crypto alone
// takes 5 ms, where a bare Node starts in 25 ms. The others are loaded with process.getBuiltinModule() when they are needed.
// .dependency-cruiser.mjs checks the layers. The imports that every command loads before its own file are checked, too.
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

// The packages that a file reaches at run time through the imports that count.
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
