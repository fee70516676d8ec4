/**
 * The words that a rule sees in a command are those that real shells see: of random lines, each that is understood has
 * the same words in bash and in dash.
 *
 * @module-tag as-displayed
 */
import { spawnSync } from 'node:child_process';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { shellParts } from '../../src/domain/shell-words.ts';
import { tempFolder } from '../support/temp.ts';

const LINES = 2_000;
/** Prints its words. Every command of a line is this one, so whatever a line is, nothing else runs. */
const COMMAND = 'p';
const PRINTS = `${COMMAND}() { for word; do printf '%s\\001' "$word"; done; printf '\\002'; }`;

const TOKENS = [
  ...['a', 'b2', '-x', '/etc', '../c', 'é', 'k=v', 'k=', '7', ',', ':', '%', '@', '+'],
  ...[' ', ' ', ' ', '\t', '"', '"', "'", "'", '\\', '\\\\', '\\"', "\\'", '\\ ', '""', "''"],
  ...['~', '^', '$', '$a', '`', '*', '?', '[a]', '{a,b}', '{', '}', '!', '#', '=', '(', ')', '\u00a0', '\r'],
  ...[` ; ${COMMAND} `, `;${COMMAND} `, ` && ${COMMAND} `, `\n${COMMAND} `],
];

/** The words of each command of a line; null for a line that is not understood, or of which more than that is. */
function understood(line: string): string[][] | null {
  const parts = shellParts(line);
  if (parts === null || parts.some(({ operator }) => ![null, ';', '&&', '\n'].includes(operator)))
    return null;
  const commands = parts.map(({ words }) => words.map(({ pieces }) => pieces.join('')));
  return commands.every(([name]) => name === COMMAND) ? commands.map((words) => words.slice(1)) : null;
}

function readBy(shell: string, lines: readonly string[]): string[][][] {
  const evaluated = lines.map((line) => `eval '${line.replaceAll("'", "'\\''")}'; printf '\\003'`);
  const input = [PRINTS, ...evaluated].join('\n');
  const { stdout, stderr } = spawnSync(shell, [], { input, cwd: tempFolder(), encoding: 'utf8', env: {} });
  expect(stderr).toBe('');
  const ended = (text: string, end: string): string[] => text.split(end).slice(0, -1);
  return ended(stdout, '\u0003').map((line) =>
    ended(line, '\u0002').map((command) => ended(command, '\u0001')),
  );
}

test.each(['bash', 'dash'])('a line that is understood has the same words in %s', (shell) => {
  const line = fc
    .array(fc.constantFrom(...TOKENS), { maxLength: 8 })
    .map((tokens) => `${COMMAND} ${tokens.join('')}`);
  const lines = [...new Set(fc.sample(line, 20 * LINES))].filter((one) => understood(one) !== null);
  expect(lines.length).toBeGreaterThan(LINES);
  expect(readBy(shell, lines)).toEqual(lines.map(understood));
});
