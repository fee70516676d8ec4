// Prints Hive's sentences for people, to be read as a whole: `node scripts/sentences.mjs`. First those of the commands of
// `hive`, each after its file and line (a template with its expressions), then those of Emacs (sentences.el).
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseSync } from '@swc/core';

const root = join(import.meta.dirname, '..');
// The files of the commands, and their sentences.
const files = ['src/cli', 'src/extensions'].flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true })
    .map((name) => join(folder, name))
    .filter((name) => name.endsWith('.ts') && !name.includes('/page/')),
);

for (const name of files.sort()) {
  const source = readFileSync(join(root, name));
  const module = parseSync(source.toString(), { syntax: 'typescript' });
  // Spans count bytes from where the first module began, and the module begins with its first statement.
  const begin = module.span.start - firstStatement(source);
  for (const { start, end } of literals(module.body)) {
    const text = source.subarray(start - begin, end - begin).toString();
    // More than one word.
    if (!/\w \w/.test(text)) continue;
    const line = source
      .subarray(0, start - begin)
      .toString()
      .split('\n').length;
    console.log(`${name}:${line}: ${text}`);
  }
}

const emacs = spawnSync('emacs', ['-Q', '--batch', '-l', 'scripts/sentences.el'], {
  cwd: root,
  stdio: 'inherit',
});
process.exitCode = emacs.status ?? 1;

/** The spans of all strings and templates below a node, except those of imports. */
function* literals(node) {
  if (node === null || typeof node !== 'object' || node.type === 'ImportDeclaration') return;
  if (node.type === 'StringLiteral' || node.type === 'TemplateLiteral') yield node.span;
  else for (const part of Array.isArray(node) ? node : Object.values(node)) yield* literals(part);
}

/** Where the comments at the beginning of a file end, in bytes. */
function firstStatement(source) {
  const [comments] = /^(?:\s+|\/\*[\s\S]*?\*\/|\/\/[^\n]*\n)*/.exec(source.toString());
  return Buffer.byteLength(comments);
}
