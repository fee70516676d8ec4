/** Random edits of random files for the real clients, and a patcher of our own for the diffs that a person is shown. */
import fc from 'fast-check';
import { revealedSource } from '../../../src/domain/display.ts';
import { type EditCall, editShown } from '../../../src/domain/edits.ts';
import { unifiedDiff } from '../../../src/infrastructure/platform/edits.ts';

/** The file that every case is about, and where a patch moves it. */
export const FILE = 'file.md';
const MOVED = 'moved.md';

/** One call that edits one file; `before` is null where there is no file. */
export interface EditCase {
  before: string | null;
  name: string;
  input: Record<string, unknown>;
}

/** The text that Hive shows of a call, and its claim about the file. */
export interface Claim {
  before: string | null;
  shown: string;
  /** The name of the file in the end. */
  file: string;
  after: string | null;
}

/** The claim of Hive about a call; null where it claims no diff. `path` is how the input names the file. */
export function claimOf(
  { before, name, input }: EditCase,
  { client, version, path = FILE }: Pick<EditCall, 'client' | 'version'> & { path?: string },
): Claim | null {
  const shown = editShown(
    { client, version, directory: '/', name, input },
    {
      versionIn: async () => version,
      directoryOfPatch: async () => null,
      read: (one) =>
        one === path && before !== null
          ? { kind: 'text', text: before, link: null }
          : { kind: 'missing', link: null },
      realPath: (one) => one,
      packed: () => null,
      unpacked: (text: string): string => text,
      compare: unifiedDiff,
      patched: () => null,
    },
    100_000,
  );
  const last = shown?.claimed.at(-1);
  if (shown === null || last === undefined) return null;
  return { before, shown: shown.shown, file: last.path === path ? FILE : last.path, after: last.after };
}

/** Cases without an end, always the same ones for a seed. */
function* drawn(arbitrary: fc.Arbitrary<EditCase>, seed: number): Generator<EditCase> {
  for (let round = 0; ; round += 1) yield* fc.sample(arbitrary, { numRuns: 500, seed: seed + round });
}

// ---- Claude Code ----

/** Pieces that Claude Code treats in ways of its own, beside plain ones. */
const PIECES = [
  ...['a', 'b', 'foo(', ')', ' ', '  ', '\t', 'don', 't', '$&', '$1', '\n', '\n', '\n', '\n\n', '\r'],
  ...['"', "'", '“', '”', '‘', '’', '—', '\\', '\\\\', '\\n'],
  ...['é', 'É', 'ü', '漢', '😀', '\\u00e9', '\\u00E9', '\\u00fc', '\\u00FC', '\\u6f22', '\\u0041', '\u00a0'],
] as const;

const pieces = (maxLength: number): fc.Arbitrary<string> =>
  fc.array(fc.constantFrom(...PIECES), { maxLength }).map((parts) => parts.join(''));

const LINE_ENDS: readonly ((text: string, bits: number) => string)[] = [
  (text) => text,
  (text) => text,
  (text) => text.replaceAll('\n', '\r\n'),
  (text, bits) => {
    let n = 0;
    return text.replace(/\n/g, () => ((bits >> (n++ % 30)) & 1 ? '\r\n' : '\n'));
  },
];

/** Claude Code chooses the line ends by the first 4,096 characters. */
const BEGINNINGS = ['', '', '', '', '', '', '\uFEFF', 'line\n'.repeat(900), 'line\r\n'.repeat(750)] as const;

const claudeFile = fc
  .tuple(fc.constantFrom(...BEGINNINGS), pieces(24), fc.constantFrom(...LINE_ENDS), fc.nat(2 ** 30))
  .map(([beginning, text, ends, bits]) => beginning + ends(text, bits));

/** Other spellings of a text that Claude Code finds, or does not find. */
const SPELLINGS: readonly ((text: string) => string)[] = [
  (text) => text,
  (text) => text,
  (text) => text,
  (text) => text.replace(/[“”]/g, '"').replace(/[‘’]/g, "'"),
  (text) => text.replaceAll('"', '“').replaceAll("'", '’'),
  (text) => text.replaceAll('\r\n', '\n'),
  (text) => text.replace(/\\u([0-9a-f]{4})/gi, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16))),
  (text) =>
    text.replace(/[\u0080-\uffff]/g, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`),
];

const claudeCase: fc.Arbitrary<EditCase> = fc
  .record({
    before: fc.option(claudeFile, { freq: 12 }),
    write: fc.nat(7),
    from: fc.tuple(fc.nat(), fc.nat(9), fc.constantFrom(...SPELLINGS)),
    to: fc.oneof(fc.constant(''), pieces(5), pieces(5)),
    every: fc.boolean(),
    absent: fc.nat(14),
  })
  .map(({ before, write, from: [place, length, spelled], to, every, absent }) => {
    if (write === 0) return { before, name: 'Write', input: { content: to } };
    const text = before?.replaceAll('\r\n', '\n') ?? '';
    const start = text.length === 0 ? 0 : place % text.length;
    // A model cannot send half a character.
    const old = spelled(text.slice(start, start + 1 + length).toWellFormed());
    const input = { old_string: absent === 0 ? '' : old, new_string: to };
    return { before, name: 'Edit', input: every ? { ...input, replace_all: true } : input };
  });

/** Calls of Claude Code's Write and Edit, without the file. */
export function claudeCases(seed: number): Generator<EditCase> {
  return drawn(claudeCase, seed);
}

// ---- Codex ----

const LINES = [
  ...[
    '',
    '',
    'a',
    'b',
    'c',
    '  a',
    'f() {',
    '}',
    '“q”',
    '"q"',
    '*** x',
    '@@',
    '- a',
    '+b',
    'é',
    'x\u00a0y',
    'x y',
  ],
  ...['a ', '\ta', '   '],
] as const;

const codexLines = (maxLength: number): fc.Arbitrary<string[]> =>
  fc.array(fc.constantFrom(...LINES), { maxLength });

interface ChunkPlan {
  head: number;
  begin: number;
  marks: number[];
  added: string[];
  at_end: number;
}

const chunkPlan: fc.Arbitrary<ChunkPlan> = fc.record({
  head: fc.nat(9),
  begin: fc.nat(),
  marks: fc.array(fc.nat(9), { minLength: 1, maxLength: 5 }),
  added: codexLines(5),
  at_end: fc.nat(5),
});

/** A chunk that mostly has lines of the file, from some place on. */
function chunkOf(lines: readonly string[], { head, begin, marks, added, at_end }: ChunkPlan): string[] {
  let at = lines.length === 0 ? 0 : begin % lines.length;
  if (at_end === 0) at = Math.max(0, lines.length - marks.length);
  const heads = [['@@'], ['@@'], ['@@'], ['@@'], [`@@ ${lines[Math.max(0, at - 1)] ?? 'a'}`], []];
  const made = marks.map((mark, n) => {
    if (mark > 6) return `+${added[n % Math.max(1, added.length)] ?? 'x'}`;
    const line = lines[at] ?? 'a';
    at += 1;
    return mark > 3 ? `-${line}` : line === '' && mark === 0 ? '' : ` ${line}`;
  });
  return [...(heads[head] ?? ['@@']), ...made, ...(at_end === 0 ? ['*** End of File'] : [])];
}

const codexCase: fc.Arbitrary<EditCase> = fc
  .record({
    lines: codexLines(9),
    ends: fc.constantFrom(...LINE_ENDS),
    bits: fc.nat(2 ** 30),
    last: fc.constantFrom('', '\n', '\n', '\n', '\n\n', '\r', '\n\r'),
    exists: fc.nat(9),
    kind: fc.nat(19),
    chunks: fc.array(chunkPlan, { minLength: 1, maxLength: 3 }),
    added: codexLines(5),
  })
  .map(({ lines, ends, bits, last, exists, kind, chunks, added }) => {
    const text = ends(lines.join('\n') + (lines.length === 0 ? '' : last), bits);
    const before = exists === 0 && kind >= 17 ? null : text;
    const to = kind === 16 ? MOVED : kind === 15 ? FILE : null;
    const head = to === null ? [] : [`*** Move to: ${to}`];
    const body =
      kind < 17
        ? [`*** Update File: ${FILE}`, ...head, ...chunks.flatMap((plan) => chunkOf(lines, plan))]
        : kind < 19
          ? [`*** Add File: ${FILE}`, ...['', ...added].map((line) => `+${line}`)]
          : [`*** Delete File: ${FILE}`];
    const command = ['*** Begin Patch', ...body, '*** End Patch'].join('\n');
    return { before, name: 'apply_patch', input: { command } };
  });

/** Patches of Codex, each of one file. */
export function codexCases(seed: number): Generator<EditCase> {
  return drawn(codexCase, seed);
}

/** One patch that does to the files of these folders what the cases do to theirs. */
export function joinedPatch(cases: readonly EditCase[], folderOf: (n: number) => string): string {
  const bodies = cases.map(({ input }, n) =>
    String(input['command'])
      .split('\n')
      .slice(1, -1)
      .join('\n')
      .replace(/^(\*\*\* (?:(?:Add|Update|Delete) File|Move to): )/gm, `$1${folderOf(n)}/`),
  );
  return ['*** Begin Patch', ...bodies, '*** End Patch'].join('\n');
}

// ---- The diff that is shown ----

const RETURNS = 'The lines of the file end with CR LF, which is not shown.';

/**
 * Why the file is not what the diff shown to a person makes of the file before; null if it is. Both are compared as they are
 * shown, in which every character that could be taken for another is spelled out.
 */
export function differenceFrom({ before, shown, after }: Claim, found: string | null): string | null {
  if (found !== after) return `the model has ${JSON.stringify(after)}`;
  const lines = shown.split('\n');
  const isPlain = lines.includes(RETURNS);
  const inPatch = (text: string | null): string => {
    const plain = text ?? '';
    return revealedSource(isPlain ? plain.replaceAll('\r\n', '\n') : plain);
  };
  const start = lines.findIndex((line) => line.startsWith('+++ '));
  const patched = patchedBy(inPatch(before), lines.slice(start + 1));
  return patched === inPatch(found) ? null : `the diff gives ${JSON.stringify(patched)}`;
}

/** A text with the hunks of a unified diff applied; null if they do not fit it. */
function patchedBy(text: string, diff: readonly string[]): string | null {
  const lines = text === '' ? [] : text.replace(/\n$/, '').split('\n');
  const isEnded = text === '' || text.endsWith('\n');
  const made: string[] = [];
  let next = 0;
  let ended = isEnded;
  let last: string | null = null;
  for (const line of diff) {
    const hunk = /^@@ -(\d+)(?:,(\d+))? \+\d+(?:,\d+)? @@$/.exec(line);
    if (hunk !== null) {
      const from = Number(hunk[1]) - (hunk[2] === '0' ? 0 : 1);
      if (from < next) return null;
      made.push(...lines.slice(next, from));
      next = from;
    } else if (line.startsWith('\\')) {
      // Of the line before: the text that has it ends there without a line end.
      if (last !== '+' && isEnded) return null;
      if (last !== '-') ended = false;
    } else if (line.startsWith('+')) {
      made.push(line.slice(1));
      ended = true;
    } else {
      if (lines[next] !== line.slice(1)) return null;
      if (line.startsWith(' ')) made.push(line.slice(1));
      next += 1;
      if (next === lines.length && !line.startsWith('-')) ended = isEnded;
      if (next === lines.length && line.startsWith('-')) ended = true;
    }
    last = line.slice(0, 1);
  }
  made.push(...lines.slice(next));
  if (next < lines.length) ended = isEnded;
  return made.length === 0 ? '' : made.join('\n') + (ended ? '\n' : '');
}
