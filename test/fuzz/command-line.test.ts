/**
 * `hive` with any words: an exit code of the table, a sentence for what is wrong, and never a stack.
 *
 * @module-tag untrusted
 * @module-tag cli
 */
import fc from 'fast-check';
import { EXIT } from '../../src/cli/exit-codes.ts';
import { childEnvironment, spawnHive } from '../support/children.ts';
import { openTestHive } from '../support/hive.ts';
import { tempStore } from '../support/temp.ts';
import { fuzz } from './fuzz.ts';
import { oddText } from './inputs.ts';

/** Those that end by themselves. `init` and `store` only look here. */
const COMMANDS: Record<string, string[]> = {
  ask: [
    '--option',
    '--multi',
    '--no-free-text',
    '--header',
    '--context-file',
    '--kind',
    '--urgency',
    '--timeout',
    '--key',
  ],
  poll: ['--wait'],
  list: ['--status', '--project', '--agent', '--limit'],
  respond: ['--amend', '--comment'],
  cancel: ['--as-agent'],
  post: ['--reply-to', '--thread', '--urgent', '--expects-reply', '--scope', '--as-agent'],
  messages: ['--after', '--before', '--thread', '--from', '--query', '--limit', '--all', '--format'],
  mentions: ['--session', '--status', '--limit', '--all', '--note', '--as-agent'],
  sessions: ['--ended'],
  interrupt: ['--all', '--turn', '--note', '--cancel'],
  status: [],
  history: ['--agent', '--project', '--since', '--limit', '--format'],
  log: ['--after'],
  store: ['--dry-run', '--days'],
  token: ['--agent', '--role'],
};
/** Arguments that keep a command from waiting. */
const ENDS: Record<string, string[]> = {
  poll: ['--wait', '--timeout', '1ms'],
  interrupt: ['--timeout', '1ms'],
  store: ['prune', '--dry-run'],
};

/** A word as it can be given to a program at all: without NUL. */
const word = fc
  .oneof(
    fc.constantFrom(
      'ask-0000000000000000',
      'yes',
      '5',
      '-5',
      '1e9',
      '10m',
      'process',
      'allow',
      'make',
      'list',
      '-',
    ),
    oddText,
  )
  .map((text) => text.replaceAll('\0', '').toWellFormed());

const line: fc.Arbitrary<string[]> = fc.oneof(
  {
    weight: 9,
    arbitrary: fc.constantFrom(...Object.keys(COMMANDS)).chain((command) => {
      const options = ['--json', ...(COMMANDS[command] ?? [])];
      const given = fc
        .tuple(fc.constantFrom(...options), fc.option(word))
        .map(([option, value]) => [option, value]);
      const words = fc.oneof(
        { weight: 2, arbitrary: word.map((one) => [one]) },
        { weight: 3, arbitrary: given },
      );
      return fc
        .array(words, { maxLength: 5 })
        .map((parts) => [command, ...(ENDS[command] ?? []), ...parts.flat().filter((part) => part !== null)]);
    }),
  },
  {
    weight: 1,
    arbitrary: fc.array(
      word.filter((text) => !/^(?:serve|sidecar|mcp|hook)$/.test(text)),
      { maxLength: 3 },
    ),
  },
);

const CODES: ReadonlySet<number | null> = new Set(Object.values(EXIT));
const LIMIT_MS = 15_000;

fuzz('command line: any words', 8, async () => {
  const store = tempStore();
  await openTestHive(store);
  return fc.asyncProperty(line, async (words) => {
    const child = spawnHive(words, childEnvironment(store, { HIVE_AGENT: 'fuzz' }));
    child.process.stdout.resume();
    child.process.stdin.end();
    const timer = setTimeout(() => void child.kill('SIGKILL'), LIMIT_MS);
    const { code, signal } = await child.exited;
    clearTimeout(timer);
    const said = child.stderr();
    if (signal !== null) throw new Error(`It did not end within ${LIMIT_MS} ms: ${said}`);
    if (!CODES.has(code)) throw new Error(`It ended with ${code}: ${said}`);
    if (/^\s+at .*:\d+:\d+|(?:Type|Reference|Syntax|Range)Error/m.test(said))
      throw new Error(`A fault: ${said}`);
    if (code !== EXIT.done && code !== EXIT.pending && said === '')
      throw new Error(`${code}, and not a word why.`);
  });
});
