// Nothing that runs a client may allow Hive's own tools on its command line: a person gets that permission from `hive init`,
// and so must tests, benches, demos and examples. Otherwise nobody would see what a person sees.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..');
const FOLDERS = ['test', 'bench', 'scripts', 'examples', 'docs', 'plugin'];
/** The one test that shows the effect of such an option. */
const SHOWS_IT = 'test/clients/as-installed.test.ts';
/** An option that allows tools, and a tool of Hive's within its value. */
const ALLOWS =
  /(?:allowed-?tools|\ballowed\b)['"]?[:,=]?\s*[\s\S]{0,80}?mcp__(?:plugin_hive_)?hive(?!-run)/gi;
/** Unit tests of the code that reads such options start no client. */
const READS_OPTIONS = new Set(['test/unit/runs.test.ts', 'scripts/check-as-installed.mjs']);

const problems = [];
for (const folder of FOLDERS) {
  for (const entry of readdirSync(join(root, folder), { recursive: true, withFileTypes: true })) {
    const name = join(entry.parentPath, entry.name).slice(root.length + 1);
    if (!entry.isFile() || !/\.(?:ts|mjs|js|sh|el|md)$/.test(name) || READS_OPTIONS.has(name)) continue;
    // A command of the plugin allows its own tools only while it runs.
    if (name.startsWith('plugin/commands/')) continue;
    const found = readFileSync(join(root, name), 'utf8').match(ALLOWS) ?? [];
    if (found.length > (name === SHOWS_IT ? 1 : 0)) problems.push(`${name}: ${found.join(' … ')}`);
  }
}
if (problems.length > 0) {
  console.error(
    `${problems.join('\n')}\nA client gets its permission for Hive's tools from "hive init" (test/clients/support/claude.ts), never from an option.`,
  );
  process.exitCode = 1;
}
