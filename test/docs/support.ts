/** The documents as the tests of this folder read them. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../support/children.ts';

/** The documents a person reads, by their path in the repository. */
export const PAGES: readonly string[] = [
  'README.md',
  'CHANGELOG.md',
  'CONTRIBUTING.md',
  ...['docs', 'docs/internals'].flatMap((folder) =>
    readdirSync(join(ROOT, folder))
      .filter((name) => name.endsWith('.md'))
      .sort()
      .map((name) => `${folder}/${name}`),
  ),
];

export function readPage(page: string): string {
  return readFileSync(join(ROOT, page), 'utf8');
}

/** The cells of the table under a heading, row by row, without its head. */
export function tableUnder(page: string, heading: string): string[][] {
  const text = `\n${readPage(page)}`;
  const from = text.indexOf(`\n${heading}\n`);
  if (from === -1) throw new Error(`${page} has no heading "${heading}".`);
  const lines = text.slice(from + heading.length + 2).split('\n');
  const start = lines.findIndex((line) => line.startsWith('|'));
  const end = lines.findIndex((line, index) => index > start && !line.startsWith('|'));
  return lines.slice(start + 2, end).map((line) =>
    line
      .slice(1, line.lastIndexOf('|'))
      .split(/(?<!\\)\|/)
      .map((cell) => cell.trim()),
  );
}

/** The text in backticks. */
export function codeIn(text: string): string[] {
  return [...text.matchAll(/`([^`]+)`/g)].map(([, code]) => code ?? '');
}
