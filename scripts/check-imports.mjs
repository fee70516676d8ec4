// The direction of imports: every arrow runs down the floors of the house (docs/architecture.md).
// A type is an arrow too: `import type` counts, except for what `hive hook` loads at run time.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { importsOf } from './read-imports.mjs';

const src = join(import.meta.dirname, '../src');

// What each room may see, besides itself and src/version.ts. `adapters` is the shelf they all share:
// the files that lie directly in src/adapters/.
const rooms = {
  domain: [],
  application: ['domain'],
  infrastructure: ['application/ports.ts', 'domain'],
  schemas: ['application', 'domain'],
  adapters: ['schemas', 'application', 'domain'],
  'adapters/*': ['adapters', 'schemas', 'application', 'domain'],
  'open-hive.ts': ['schemas', 'infrastructure', 'application', 'domain'],
  // A library of its own, like index.ts, and it speaks with its client as the hooks do.
  'adapters/agent-sdk': ['open-hive.ts', 'adapters/*', 'schemas', 'infrastructure', 'application', 'domain'],
  cli: ['open-hive.ts', 'adapters', 'adapters/*', 'schemas', 'infrastructure', 'application', 'domain'],
  'index.ts': [
    'open-hive.ts',
    'adapters',
    'adapters/*',
    'schemas',
    'infrastructure',
    'application',
    'domain',
  ],
};

const files = readdirSync(src, { recursive: true }).filter((name) => name.endsWith('.ts'));
const imports = new Map(files.map((file) => [file, importsOf(join(src, file), src)]));
const wrong = [...files.flatMap(wrongArrows), ...new Set(packagesOfHook())];

for (const line of wrong) console.log(line);
process.exitCode = wrong.length > 0 ? 1 : 0;

function wrongArrows(file) {
  const room = roomOf(file);
  if (file === 'version.ts' || file.endsWith('.d.ts')) return [];
  if (!room)
    return [`src/${file} stands in no room of the house; the rooms are ${Object.keys(rooms).join(', ')}.`];
  return imports
    .get(file)
    .filter((arrow) => !isAllowed(room, file, arrow))
    .map(({ target }) => `src/${file} must not import ${target.startsWith('.') ? target.slice(3) : target}.`);
}

function isAllowed(room, file, { target, isPackage }) {
  // The domain is pure: no package and nothing of Node's.
  if (isPackage) return room !== 'domain';
  if (target === 'version.ts') return true;
  if (target.startsWith('../')) return target.startsWith('../sql/') && room === 'infrastructure';
  const other = roomOf(target);
  if (other === room) return room !== 'adapters/*' || folderOf(file) === folderOf(target);
  return rooms[room].includes(target) || rooms[room].includes(other);
}

function roomOf(file) {
  const [first, ...rest] = file.split('/');
  if (first === 'adapters' && rest[0] === 'agent-sdk') return 'adapters/agent-sdk';
  if (first === 'adapters' && rest.length > 1) return 'adapters/*';
  return first in rooms ? first : undefined;
}

function folderOf(file) {
  return file.split('/').slice(0, 2).join('/');
}

// `hive hook` starts for each event of an agent: it loads no package, `pg` only when the store is PostgreSQL,
// and node-notifier, which hangs on the hive's notifier, never: a hook shows no popup. Of Node itself it loads
// at once only what is cheap; node:crypto alone takes 5 ms of the 25 that a bare Node starts in, and the
// rest comes with process.getBuiltinModule() when it is needed.
function packagesOfHook() {
  const cheap = ['node:fs', 'node:os', 'node:path', 'node:sqlite'];
  const late = ['pg', 'node-notifier'];
  return [
    ...packagesFrom('cli/hook.ts', ({ isLazy }) => !isLazy).filter(({ target }) => !cheap.includes(target)),
    ...packagesFrom('cli/hook.ts', () => true).filter(
      ({ target }) => !target.startsWith('node:') && !late.includes(target),
    ),
  ].map(({ file, target }) => `src/${file} must not import "${target}" at once: hive hook reaches it.`);
}

// The packages that a file reaches at run time over the arrows that count.
function packagesFrom(entry, counts) {
  const found = [];
  const reached = new Set([entry]);
  for (const file of reached) {
    for (const arrow of (imports.get(file) ?? []).filter((arrow) => !arrow.isType && counts(arrow))) {
      if (arrow.isPackage) found.push({ file, ...arrow });
      else reached.add(arrow.target);
    }
  }
  return found;
}
