/**
 * Permission rules against real shells: what runs a command is denied by the rule that denies it, and a line that a rule allows
 * runs nothing that the rule does not name.
 *
 * @module-tag as-displayed
 */
import { spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { readRules, rulesForTool } from '../../src/domain/permission-rules.ts';
import { placeAt } from '../../src/infrastructure/platform/place.ts';
import { tempFolder } from '../support/temp.ts';
import { fuzz } from './fuzz.ts';

// ---- A folder in which every program but a few writes down how it was started ----

const REAL = ['sh', 'bash', 'env', 'timeout', 'nice', 'nohup', 'xargs', 'find'];
const RECORDED = ['git', 'npm', 'cat', 'ls', 'grep', 'head', 'tail', 'wc', 'rm'];

/** Runs a line in a shell, and returns the words of each program that was started, sorted. */
function shellIn(): (shell: string, line: string) => string[][] {
  const folder = realpathSync.native(tempFolder());
  const [bin, work, log] = [join(folder, 'bin'), join(folder, 'work'), join(folder, 'log')];
  for (const one of [bin, join(work, 'src')]) mkdirSync(one, { recursive: true });
  writeFileSync(join(work, 'src/a'), 'rm x\n');
  // In one write, because the programs of a pipe run at the same time. The output would be seen if a shell read it.
  const record = `#!/bin/sh\nprintf '%s\\001' "\${0##*/}" "$@" '\u0002' >> '${log}'\necho rm x\n`;
  for (const name of RECORDED) writeFileSync(join(bin, name), record, { mode: 0o700 });
  for (const name of REAL) symlinkSync(join('/usr/bin', name), join(bin, name));
  return (shell, line) => {
    rmSync(log, { force: true });
    const env = { PATH: bin, HOME: work, LC_ALL: 'C.UTF-8' };
    spawnSync(join('/usr/bin', shell), ['-c', line], { cwd: work, env, stdio: 'ignore', timeout: 20_000 });
    const text = existsSync(log) ? readFileSync(log, 'utf8') : '';
    const ended = (one: string, end: string): string[] => one.split(end).slice(0, -1);
    return ended(text, '\u0002\u0001')
      .map((words) => ended(words, '\u0001'))
      .sort((one, other) => (one.join(' ') < other.join(' ') ? -1 : 1));
  };
}

function isDecided(decision: 'allow' | 'deny', input: string, command: string): boolean {
  const { rules, problems } = readRules([{ decision, tool: 'Bash', input }], 'a test');
  if (problems.length > 0) throw new Error(problems.join());
  const tool = { name: 'Bash', input: { command }, use_id: null, response: null, own: null };
  return (
    rulesForTool(rules, tool, { ...placeAt('/'), cwd: '/demo', resolve: (path) => `/demo/${path}` }).length >
    0
  );
}

// ---- Rules that deny ----

/** A word in one of the ways in which bash reads it. */
const spelled = (word: string): fc.Arbitrary<string> => {
  const [first = ''] = word;
  const rest = word.slice(1);
  return fc.constantFrom(
    ...[word, word, word, `"${word}"`, `'${word}'`, `\\${word}`, `$'${word}'`, `$"${word}"`],
    ...[`${first}"${rest}"`, `''${word}`, `${first}\\\n${rest}`, `${first}""${rest}`],
  );
};

const redirection = fc.constantFrom(
  '',
  '',
  '',
  '',
  '>log',
  ' > log',
  ' 2>&1',
  ' 2>/dev/null',
  '>>log',
  ' {fd}>log',
  ' <&0',
  '&>log',
);
const options = fc.constantFrom(
  ' ',
  ' ',
  '  ',
  '\t',
  ' -C . ',
  ' -c a=b -c "c=d e" ',
  ' --git-dir x -P ',
  ' -c a=b'.repeat(12).concat(' '),
);
const push = fc
  .tuple(spelled('git'), redirection, options, spelled('push'), redirection)
  .map(([git, before, between, word, after]) => `${git}${before}${between}${word}${after} origin`);

/** The same command where a shell, or a program that is started, runs it. */
const wrapped: fc.Arbitrary<string> = fc.letrec<{ line: string; around: string }>((tie) => ({
  line: fc.oneof({ maxDepth: 2 }, push, tie('around')),
  around: fc
    .tuple(
      fc.constantFrom<(line: string) => string>(
        (line) => `A=b ${line}`,
        (line) => `A="b c" B=$'d e' ${line}`,
        (line) => `>log ${line}`,
        (line) => `2>&1 ${line}`,
        (line) => `! ${line}`,
        (line) => `time -p ${line}`,
        (line) => `command -p ${line}`,
        (line) => `exec -a x ${line}`,
        (line) => `eval ${line}`,
        (line) => `env -i PATH="$PATH" ${line}`,
        (line) => `timeout -s KILL 20 ${line}`,
        (line) => `nice -n 1 nohup ${line}`,
        (line) => `xargs -n 1 ${line} < /dev/null`,
        (line) => `echo x | xargs ${line}`,
        (line) => `cat x; ${line}`,
        (line) => `true&&${line}`,
        (line) => `false||${line}`,
        (line) => `ls | ${line}`,
        (line) => `ls &${line}`,
        (line) => `(${line})`,
        (line) => `{ ${line}\n}`,
        (line) => `if true; then ${line}\nfi`,
        (line) => `while ${line}\ndo break; done`,
        (line) => `for one in 1; do ${line}\ndone`,
        (line) => `case a in a) ${line};; esac`,
        (line) => `f() { ${line}\n}; f`,
        (line) => `x=$(${line})`,
        (line) => `echo "$(${line})"`,
        (line) => `cat <(${line})`,
        (line) => `bash <<'E'\n${line}\nE`,
        (line) => `cat <<E\n$(${line})\nE`,
      ),
      tie('line'),
    )
    .map(([around, line]) => around(line)),
})).line;

/** The command as text, in quotes, that a shell runs. */
const quoted = fc
  .tuple(
    fc.constantFrom<(text: string) => string>(
      (text) => `bash -c "${text}"`,
      (text) => `env A=b sh -ec '${text}'`,
      (text) => `eval "${text}"`,
      (text) => `trap "${text}" EXIT`,
      (text) => `timeout 20 bash -c '${text}'`,
      (text) => `find . -maxdepth 0 -exec sh -c "${text}" \\;`,
      (text) => `echo "${text}" | bash`,
      (text) => `echo ${text.replaceAll(/[;&|<>"$]/g, '')} | env sh -s`,
      (text) => `bash <<< '${text}'`,
      (text) => `shopt -s expand_aliases; alias g="${text}"\ng`,
    ),
    fc.constantFrom(
      'git push',
      'git -C . push',
      'cd . && git push',
      'A=b git push',
      '>log git push x',
      'if true; then git push; fi',
    ),
  )
  .map(([around, text]) => around(text));

fuzz('a rule that denies a command: what bash runs is denied', 200, () => {
  const run = shellIn();
  return fc.property(fc.oneof({ weight: 3, arbitrary: wrapped }, quoted), (line) => {
    const runs = run('bash', line).some(([program, ...words]) => program === 'git' && words.includes('push'));
    if (runs && !isDecided('deny', 'git push*', line)) throw new Error(`It runs, and is not denied: ${line}`);
  });
});

// ---- Rules that allow ----

/** Rules with commands that they allow, and what these rules let be started: programs with words, where `*` is any further word, and `?` any program. */
const ALLOWING: readonly (readonly [input: string, command: string, started: readonly string[]])[] = [
  ['npm test*', 'npm test src', ['npm test *']],
  ['git log* -- src', 'git log main -- src', ['git log * -- src']],
  ['git log *', 'git log main 2>&1 | head -5', ['git log *', 'head *']],
  ['cat src/*', 'cat src/a', ['cat *']],
  ['cat src/* | wc -l', 'cat src/a | wc -l', ['cat *', 'wc -l']],
  ['cat src/* | *', 'cat src/a | wc', ['cat *', '?']],
  ['* < src/a', 'wc < src/a', ['?']],
  ['grep -r * src', 'grep -r "a b" src', ['grep -r * src']],
  ['A=b npm test*', 'A=b npm test', ['npm test *']],
  ['ls * > src/*', 'ls src > src/b', ['ls *']],
  ['ls * && npm test', 'ls src && npm test', ['ls *', 'npm test']],
  ['if true\nthen git log\nfi', 'if true\nthen git log\nfi', ['git log']],
  ['if false\nthen git log\nfi', 'if false\nthen git log\nfi', []],
  ['cd src && cat *', 'cd src && cat a', ['cat *']],
  ['timeout 20 npm test *', 'timeout 20 npm test a', ['npm test *']],
  ['ls | xargs cat', 'ls | xargs cat', ['ls', 'cat rm x']],
  ['echo * | xargs cat', 'echo a b | xargs cat', ['cat *']],
];

/** It may follow each command of a rule with a star. */
const ENDING = 'tail -2';

const PIECES = [
  ...[
    ' ',
    '  ',
    '\t',
    '\n',
    '\\\n',
    '\r',
    '\u00a0',
    '\u200b',
    '\uff0d',
    '$(rm x)',
    '`rm x`',
    'rm x',
    '| tail -2',
  ],
  ...String.raw`" ' \ "" $ $' ${'$'}{x:-rm} # ! ~ ^ = % ; & && | || |& ;; ( ) { } < > >> >| <> >& <& << <<< 2> 9> &> 2>&1`.split(
    ' ',
  ),
  ...`rm x -x -- - / .. ../x . ./rm sh bash -c eval env xargs A=b 'A'=b x=rm >/dev/null`.split(' '),
  ...'if then fi else do time in * ? [a] {a,rm}'.split(' '),
];

const edited = fc
  .tuple(
    fc.constantFrom(...ALLOWING),
    fc.array(
      fc.record({
        at: fc.double({ min: 0, max: 1, noNaN: true }),
        instead: fc.nat({ max: 3 }),
        piece: fc.constantFrom(...PIECES, ''),
      }),
      { minLength: 1, maxLength: 3 },
    ),
  )
  .map(([rule, edits]) => ({
    rule,
    line: edits.reduce((text, { at, instead, piece }) => {
      const start = Math.floor(at * (text.length + 1));
      return text.slice(0, start) + piece + text.slice(start + instead);
    }, rule[1]),
  }));

/** Whether a program was started as the rule says; no further word is an option. */
function isAsStarted(pattern: string, words: readonly string[]): boolean {
  if (pattern === '?') return words.length === 1;
  const wanted = pattern.split(' ');
  const star = wanted.indexOf('*');
  if (star === -1) return wanted.join(' ') === words.join(' ');
  const after = wanted.slice(star + 1);
  const end = words.length - after.length;
  const between = words.slice(star, end);
  return (
    end >= star &&
    wanted.slice(0, star).every((word, at) => words[at] === word) &&
    after.every((word, at) => words[end + at] === word) &&
    between.every((word) => !/^[-+]|^\/|(?:^|\/)\.\.(?:\/|$)/.test(word) || wanted[0] === 'head')
  );
}

fuzz('a rule that allows a command: bash and dash run nothing else', 10_000, () => {
  const run = shellIn();
  return fc.property(edited, ({ rule: [input, , started], line }) => {
    if (!isDecided('allow', input, line)) return;
    for (const shell of ['bash', 'dash']) {
      const others = run(shell, line).filter(
        (words) => ![...started, ENDING].some((one) => isAsStarted(one, words)),
      );
      if (others.length > 0)
        throw new Error(
          `In ${shell}, ${JSON.stringify(input)} lets ${JSON.stringify(line)} start ${JSON.stringify(others)}`,
        );
    }
  });
});
