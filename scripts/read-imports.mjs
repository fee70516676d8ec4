import { readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';

// Sufficient for formatted code, where a static import or export starts its line; a parser would be a
// dependency, and the compiler has no JavaScript API.
const statement = /^(?:import|export)\s+(type\s)?(?:[\w*{][^;'"]*?\sfrom\s+)?['"]([^'"]+)['"]/gm;
const call = /(typeof\s+)?\b(?:import|require)\(\s*['"]([^'"]+)['"]/g;
const comment = /^\s*(?:\/\/.*|\/\*[\s\S]*?\*\/)/gm;

/** Every import of a file: its target, as a path from `src` or as the name of a package. */
export function importsOf(file, src) {
  const text = readFileSync(file, 'utf8').replace(comment, '');
  return [
    ...[...text.matchAll(statement)].map(([, type, from]) =>
      arrow(from, { isType: Boolean(type), isLazy: false }),
    ),
    ...[...text.matchAll(call)].map(([, type, from]) => arrow(from, { isType: Boolean(type), isLazy: true })),
  ];

  function arrow(from, kind) {
    if (!from.startsWith('.')) return { target: from, isPackage: true, ...kind };
    return { target: relative(src, join(dirname(file), from)), isPackage: false, ...kind };
  }
}
