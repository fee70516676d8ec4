// A comment or docstring begins with the thing that it is about ("The state of a turn …"), not with a question ("What a turn …").
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..');
const FOLDERS = ['src', 'elisp', 'sql', 'test', 'bench', 'scripts', 'plugin', 'examples'];
const QUESTION =
  /^\s*(?:\/\/|\/\*+|\*|;+|--|#)\s*(?:What|Who)(?:ever)?\b.*|\s\/[/*]+ (?:What|Who)(?:ever)?\b.*/gm;
const DOCSTRING = /^ {2}"(?:What|Who)(?:ever)?\b.*/gm;

const problems = [];
for (const folder of FOLDERS) {
  for (const entry of readdirSync(join(root, folder), { recursive: true, withFileTypes: true })) {
    const name = join(entry.parentPath, entry.name).slice(root.length + 1);
    if (!entry.isFile() || !/\.(?:tsx?|mjs|js|css|c|sh|sql|yml|el)$/.test(name)) continue;
    const text = readFileSync(join(root, name), 'utf8');
    const found = [...text.matchAll(QUESTION), ...(name.endsWith('.el') ? text.matchAll(DOCSTRING) : [])];
    problems.push(...found.map(([line]) => `${name}: ${line.trim()}`));
  }
}
if (problems.length > 0) {
  console.error(
    `${problems.join('\n')}\nBegin a comment with the thing that it is about, not with "What" or "Who".`,
  );
  process.exitCode = 1;
}
