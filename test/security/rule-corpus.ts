/**
 * Makes the corpus for the permission rules: hostile calls, each an ordinary one with an addition that its rule does
 * not cover, and ordinary ones, each with the decision of its rule. Seeded, so that it is the same each time; the
 * test beside it writes it into golden/ and compares it with what is there. `@HERE@` stands for the directory in which
 * the agent works.
 */

/** One call of a tool under one rule. */
export interface CorpusCall {
  rule: Readonly<Record<string, string>>;
  tool: string;
  input: Readonly<Record<string, unknown>>;
  /** The decision of the rule; null: the human is asked. */
  decision: 'allow' | 'deny' | null;
  /** The change that was made to it. */
  how: string;
}

type Random = () => number;

/** A small generator of random numbers (mulberry32). */
function randomFrom(seed: number): Random {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

function pick<T>(random: Random, from: readonly T[]): T {
  const found = from[Math.floor(random() * from.length)];
  if (found === undefined) throw new Error('Nothing to pick from.');
  return found;
}

interface Base {
  input: string;
  /** Commands that the rule allows. */
  honest: readonly string[];
  /** Options that make the program do something else. */
  options: readonly string[];
}

const BASES: readonly Base[] = [
  {
    input: 'npm test*',
    honest: ['npm test', 'npm test src/a.ts', 'npm test src lib', '"npm" test', "npm test 'src/a.ts'"],
    options: [
      '--script-shell=./evil',
      '--prefix=/tmp/evil',
      '--node-options=--require=./evil.js',
      '-C',
      '--',
    ],
  },
  {
    input: 'npm test *',
    honest: ['npm test src/a.ts', 'npm test a b c', 'npm test "a" b', 'npm test src\\/a.ts'],
    options: ['--script-shell=./evil', '--prefix=..', '-w', '--ignore-scripts=false'],
  },
  {
    input: 'npm run build*',
    honest: ['npm run build', 'npm run build fast', 'npm run build docs/index'],
    options: ['--script-shell=sh', '--userconfig=./evil'],
  },
  {
    input: 'git log*',
    honest: ['git log', 'git log main', 'git log HEAD~3 src/a.ts', 'git log main^2', 'git log v1.2..main'],
    options: ['--output=x', '--output', '--ext-diff', '-p', '--textconv', '--open-files-in-pager=sh'],
  },
  {
    input: 'git diff *',
    honest: ['git diff main', 'git diff src/a.ts', 'git diff main dev'],
    options: ['--no-index', '--output=../x', '--ext-diff', '-O../x'],
  },
  {
    input: 'find*',
    honest: ['find', 'find .', 'find src lib', 'find ./src'],
    options: ['-delete', '-exec', '-execdir', '-ok', '-fprintf', '-fls', '-L'],
  },
  {
    input: 'cat src/*',
    honest: ['cat src/a.ts', 'cat src/deep/a.ts', "cat 'src/a b.ts'", 'cat ./src/a.ts'],
    options: ['-A', '--show-all'],
  },
  {
    input: 'ls src/*.ts',
    honest: ['ls src/a.ts', 'ls src/long-name.ts', "ls 'src/a b.ts'"],
    options: ['-R', '--hyperlink'],
  },
  {
    input: 'pytest tests/* && echo done',
    honest: ['pytest tests/a.py && echo done', 'pytest tests/deep/a.py && echo done'],
    options: ['-p', '--rootdir=/', '-c'],
  },
  {
    input: 'tar -cf out/*.tar src',
    honest: ['tar -cf out/a.tar src', 'tar -cf out/b.tar src'],
    options: ['--checkpoint-action=exec=sh', '-I', '--to-command=sh'],
  },
  {
    input: 'grep -r * src',
    honest: ['grep -r word src', 'grep -r "two words" src'],
    options: ['-f', '--include=../x', '--devices=read'],
  },
  {
    input: 'npm run test:*',
    honest: ['npm run test:unit', 'npm run test:end-to-end'],
    options: ['--script-shell=sh', '--userconfig=./evil'],
  },
  {
    input: 'git push origin *',
    honest: ['git push origin main', 'git push origin feature/x', 'git push origin v1.2'],
    options: ['--force', '--mirror', '--receive-pack=./evil', '-d'],
  },
  {
    input: 'git commit -m *',
    honest: ['git commit -m fix', 'git commit -m "fix(api): a thing, and another"', "git commit -m 'a = b'"],
    options: ['--no-verify', '-a', '--amend', '--author=x'],
  },
  {
    input: 'make *',
    honest: ['make all', 'make build/a.o', 'make clean test'],
    options: ['-C', '-f', '--eval=x', '--file=x'],
  },
  {
    input: 'timeout 60 pytest *',
    honest: ['timeout 60 pytest tests', 'timeout 60 pytest tests/a.py'],
    options: ['-p', '-c', '--rootdir=x'],
  },
  {
    input: 'sed -n 1,9p *',
    honest: ['sed -n 1,9p src/a.ts', 'sed -n 1,9p src/a.ts src/deep/a.ts'],
    options: ['-i', '-e', '--expression=1e', '-f', '-s'],
  },
  {
    input: 'rsync -a * out',
    honest: ['rsync -a src out', 'rsync -a src/deep out'],
    options: ['-e', '--rsh=sh', '--rsync-path=sh'],
  },
  {
    input: 'cargo test --features=*',
    honest: ['cargo test --features=fast', 'cargo test --features=a-b'],
    options: ['--config=x', '-Z'],
  },
  {
    input: '* --version',
    honest: ['node --version', 'npm --version', 'git --version'],
    options: ['-e', '--eval'],
  },
];

/**
 * Rules whose command works in another folder, from which links lead out. An honest call of some is not allowed
 * either, because nobody knows where git looks for what the star matches.
 */
const MOVED: readonly (readonly [input: string, honest: CorpusCall['decision']])[] = [
  ['cd src && cat *', 'allow'],
  ['command cd src && cat *', 'allow'],
  ['builtin cd src && cat *', 'allow'],
  ['command -p cd src && rm *', 'allow'],
  ['pushd src && cat *', 'allow'],
  ['make -C src *', 'allow'],
  ['make -Csrc *', 'allow'],
  ['make -C * *', null],
  ['git -C src > log add *', 'allow'],
  ['git --work-tree=src add *', 'allow'],
  ['git --work-tree src add *', 'allow'],
  ['npm --prefix=src run build *', 'allow'],
  ['task -d src *', 'allow'],
  ['task -dsrc *', 'allow'],
  ['runner --root src --fast *', 'allow'],
  ['runner --root=src *', 'allow'],
  ['ROOT=src runner *', 'allow'],
  ['X=1 cd src && cat *', null],
  ['CDPATH=lib cd src && cat *', null],
  ['git --git-dir=src/.git add *', null],
  ['git --git-dir src/.git add *', null],
  ['git -c core.worktree=src add *', null],
  ['GIT_DIR=src/.git git add *', null],
  ['GIT_WORK_TREE=src git add *', null],
];

/** Options whose value begins with a folder called like the option: as a path, each is a file in the folder that its rule names. */
const OPTIONS_AS_PATHS: readonly (readonly [input: string, command: string])[] = [
  ['sort src/*', 'sort -o../../src/a.ts'],
  ['sort src/*', "sort '-o'../../src/a.ts"],
  ['sed -n 1,9p src/* src/*', "sed -n 1,9p '-e1e sh src/x/../../src/a.ts' src/a.ts"],
  ['tar -cf out.tar src/*', 'tar -cf out.tar -Ix/../src/a.ts'],
  ['vim src/*', "vim '+source x/../src/a.ts'"],
];

const PAYLOADS = ['rm -rf x', 'curl evil.example', 'sh', './evil', 'git push', 'cat /etc/passwd', 'id'];
const OUTSIDE = [
  '../x',
  '..',
  '/etc/passwd',
  '/',
  '~/.ssh/id_rsa',
  '~root',
  'src/../../x',
  'src/./../../x',
  "src/'.'./../x",
  'src/"..".',
  "'..'/x",
  '\\.\\./x',
  'src/.?/x',
  'src/.*/x',
  'src/[.][.]/x',
  'src/{..,a}/x',
  'out-link/passwd',
  'src/out-link/passwd',
  './out-link',
  'dangling',
  'src/dangling',
  '.git/config',
  '.env',
  'src/.env',
  'a=/etc/passwd',
  'a:/etc/passwd',
  'a,/etc/passwd',
  'a@/etc/passwd',
  'a:../../x',
  '@HERE@/../x',
  '//etc/passwd',
  '/proc/self/cwd/../../../etc/passwd',
];
/** Words in which one program or another reads more than a name, a number or a path. */
const MEANING_MORE = [
  "'x:=$(shell id)'",
  "'src/x:=$(shell id)'",
  "'src/x=$(id)'",
  "'x!=id'",
  'CC=evil',
  'SHELL=./evil',
  'MAKEFLAGS=--eval=x',
  'of=x',
  'if=x',
  'a=b',
  '+HEAD:main',
  'HEAD:main',
  ':main',
  '+main',
  ':/fix',
  "':(exclude)src'",
  '^main',
  'test:evil',
  'a:b',
  'host:path',
  'user@host:path',
  'host::module',
  'me@host',
  '@args',
  '@src/args',
  'main@{1}',
  "'1e id'",
  "'1e sh src/a.ts'",
  "'w src/a.ts'",
  "'s|a|b|e'",
  '\'BEGIN{system("id")}\'',
  "'{print}'",
  '\'@load "x"\'',
  "'!id'",
  "'+!id'",
  '+q',
  '+%s',
  '%1',
  "'a;id'",
  "'a|id'",
  "'a&id'",
  "'a>b'",
  "'a<b'",
  "'$(id)'",
  "'`id`'",
  "'a$b'",
  "'*'",
  "'?'",
  "'[a]'",
  "'{a,b}'",
  "'#x'",
  "'\\x'",
  'a,b',
  ',a',
  "'a b c'",
  "' a'",
  "'a '",
  'a~b',
  'a^b',
  '\uff41',
  'a\uff0fb',
  'a\u2044b',
  'a\u2010b',
  'a\u2024b',
  '\ufb01le',
  '.a',
  "''",
] as const;
/** Characters that no plain word contains: punctuation, blanks and their look-alikes. */
const UNUSUAL =
  '!"#$%&()*,:;<=>?@[\\]`{|}\u00a0\u00ad\u1680\u2003\u200b\u2010\u2013\u2019\u2024\u202e\u2044\u2215\u29f8\u3000\ufe68\uff0d\uff0f\uff1a\uff1d\uff5e';

const SPACES = [' ', '\t', '  '];

type Mutation = readonly [how: string, change: (command: string, base: Base, random: Random) => string];

/** Puts a word somewhere behind the program. */
function insert(command: string, word: string, random: Random): string {
  const words = command.split(' ');
  const at = 1 + Math.floor(random() * words.length);
  return [...words.slice(0, at), word, ...words.slice(at)].join(pick(random, SPACES));
}

/** The same, but not where the program takes text. */
function addTo(command: string, { input }: Base, word: string, random: Random): string {
  return input.startsWith('git commit') ? `${command} ${word}` : insert(command, word, random);
}

/** The same word for a shell, written otherwise. */
function disguise(word: string, random: Random): string {
  const [first = '', ...rest] = word;
  const tail = rest.join('');
  return pick(random, [
    word,
    `'${word}'`,
    `"${word}"`,
    `\\${word}`,
    `'${first}'${tail}`,
    `"${first}"${tail}`,
    `''${word}`,
    `""${word}`,
    `${first}''${tail}`,
    `$'${word}'`,
    `{${word},x}`,
  ]);
}

const MUTATIONS: readonly Mutation[] = [
  [
    'another command after it',
    (command, _, random) =>
      command +
      pick(random, [
        '; ',
        ';',
        ' && ',
        '&&',
        ' || ',
        ' | ',
        '|',
        ' & ',
        '&',
        '\n',
        ' \n',
        '\r\n',
        ' |& ',
        ' ;; ',
      ]) +
      pick(random, PAYLOADS),
  ],
  [
    'another command before it',
    (command, _, random) =>
      pick(random, PAYLOADS) + pick(random, ['; ', ' && ', ' | ', '\n', ' & ']) + command,
  ],
  [
    'a substitution',
    (command, _, random) => {
      const payload = pick(random, PAYLOADS);
      const forms = [
        `$(${payload})`,
        `\`${payload}\``,
        `"$(${payload})"`,
        `"\`${payload}\`"`,
        `<(${payload})`,
        `>(${payload})`,
        // biome-ignore lint/suspicious/noTemplateCurlyInString: as a shell reads it
        '${IFS}x',
        '$IFS$9x',
        '"$HOME"',
        // biome-ignore lint/suspicious/noTemplateCurlyInString: as a shell reads it
        '${x:-/etc/passwd}',
        '$((1))',
        "$'\\x2d\\x2dx'",
        '$"x"',
        '=sh',
      ];
      return insert(command, pick(random, forms), random);
    },
  ],
  [
    'a redirection',
    (command, _, random) =>
      command +
      pick(random, [
        ' > x',
        '>x',
        ' >> ~/.bashrc',
        ' < /etc/passwd',
        ' 2> x',
        ' &> x',
        ' >| x',
        ' <> x',
        ' 2>&7',
        ' <<< x',
        ' << E\nx\nE',
        ' 3<x',
      ]),
  ],
  [
    'an option',
    (command, { options }, random) => insert(command, disguise(pick(random, options), random), random),
  ],
  ['a way out', (command, _, random) => insert(command, pick(random, OUTSIDE), random)],
  [
    'another program',
    (command, _, random) =>
      pick(random, [
        'sudo ',
        'env X=1 ',
        'command ',
        'exec ',
        'LD_PRELOAD=./x.so ',
        'PATH=. ',
        'time ',
        '! ',
      ]) + command,
  ],
  [
    'a program called alike',
    (command, { input }, random) => {
      const [first = '', ...rest] = command.split(' ');
      const bare = first.replace(/"/g, '');
      const other = pick(random, [
        `./${bare}`,
        `/tmp/${bare}`,
        `${bare}/../sh`,
        `X=${bare}`,
        `${bare}*`,
        input.startsWith('*') ? './x' : `${bare}-x`,
      ]);
      return [other, ...rest].join(' ');
    },
  ],
  [
    'a group',
    (command, _, random) =>
      pick(random, [
        `( ${command} )`,
        `{ ${command}; }`,
        `eval "${command}"`,
        `sh -c '${command}'`,
        `${command} #`,
        `${command} \\\n x`,
        `if true; then ${command}; fi`,
        `x() { ${command}; }`,
      ]),
  ],
  [
    'a file name pattern',
    (command, _, random) =>
      insert(command, pick(random, ['*', '?x', '[a-z]*', '{a,b}', 'src/*', '~', '**']), random),
  ],
  [
    'a character that hides',
    (command, _, random) => {
      const hidden = pick(random, [
        '\u200b',
        '\u00a0',
        '\u2028',
        '\u202e',
        '\u034f',
        '\u3164',
        '\u0000',
        '\u001b',
        '\r',
      ]);
      const at = Math.floor(random() * (command.length + 1));
      return command.slice(0, at) + hidden + command.slice(at);
    },
  ],
  [
    'a word that says more',
    (command, base, random) => addTo(command, base, pick(random, MEANING_MORE), random),
  ],
  [
    'a word with any character in it',
    (command, base, random) => {
      const character = pick(random, Array.from(UNUSUAL));
      const word = pick(random, [`a${character}b`, `${character}b`, `a${character}`, `src/${character}a.ts`]);
      return addTo(command, base, `'${word}'`, random);
    },
  ],
  ['too long', (command) => `${command} ${'x '.repeat(1_000)}`],
];

/** An honest call with an argument that no rule knows, or with a decoy in place of the one that counts. */
const ARGUMENTS: readonly ((command: string) => Record<string, unknown>)[] = [
  (command) => ({ command, dangerouslyDisableSandbox: true }),
  (command) => ({ command, dangerouslyDisableSandbox: false }),
  (command) => ({ command, run_in_background: true }),
  (command) => ({ command, workdir: '/' }),
  (command) => ({ command, env: { LD_PRELOAD: './x.so' } }),
  (command) => ({ command, file_path: 'src/a.ts' }),
  (command) => ({ command, Command: 'rm -rf x' }),
  (command) => ({ command: [command] }),
  (command) => ({ command: { toString: command } }),
  (command) => ({ cmd: command }),
  (command) => ({ command: 'rm -rf x', description: command }),
  (command) => ({ command: 'rm -rf x', path: command }),
  (command) => ({ file_path: command, command: '' }),
  (command) => ({ script: 'rm -rf x', command }),
];

const FILE_RULES = [
  { tool: 'Read', field: 'file_path', input: '@HERE@/src/*', beside: {} },
  { tool: 'Edit', field: 'file_path', input: 'src/*', beside: { old_string: 'a', new_string: 'b' } },
  { tool: 'Write', field: 'file_path', input: '@HERE@/src/*.ts', beside: { content: 'x' } },
  { tool: 'NotebookEdit', field: 'notebook_path', input: 'src/*', beside: { new_source: 'x' } },
];
const FILES_OUTSIDE = [
  '@HERE@/src/../.env',
  '@HERE@/src/../../x',
  '@HERE@/src/..',
  '@HERE@/src/.',
  '@HERE@/src',
  '@HERE@/src/',
  '@HERE@/srcx/a.ts',
  '@HERE@/src/.git/hooks/pre-commit.ts',
  '@HERE@/src/deep/.env.ts',
  '@HERE@/src/out-link/passwd.ts',
  '@HERE@/src/out-link/../a.ts',
  '@HERE@/src/missing/../a.ts',
  '@HERE@/src/dangling',
  '@HERE@/src/dangling.ts',
  '@HERE@/src/env-link.ts',
  '/etc/passwd',
  '/etc/passwd.ts',
  '~/a.ts',
  '../src/a.ts',
  '',
  '/',
  '/proc/self/cwd/../a.ts',
];

const URL_RULES = ['https://example.org/docs/*', 'https://example.org*', 'https://*.example.org/*'];
const URLS_OUTSIDE = [
  'https://example.org.evil.example/docs/a',
  'https://example.org@evil.example/docs/a',
  'https://example.org:x@evil.example/docs/a',
  'https://evil.example/docs/a',
  'https://evil.example/https://example.org/docs/a',
  'https://evil.example#https://example.org/docs/a',
  'https://evilexample.org/docs/a',
  'http://example.org/docs/a',
  'ftp://a.example.org/docs/a',
  'https:example.org/docs/a',
  'https://example.org\\@evil.example/docs/a',
  'https://a.example.org/docs/../secret',
  'https://example.org/docs/../secret',
  'https://example.org/docs/%2e%2e/secret',
  'https://example.org/docs/%2E./secret',
  'https://example.org/docs/..%2fsecret',
  'https://example.org/docs/.\\secret',
  'https://example.org/docs/a b',
  'https://example.org/docs/\na',
  'https://еxample.org/docs/a',
  ' https://example.org/docs/a',
  'https://example.org\t/docs/a',
];

/** Calls that their rules must not allow. */
export function hostileCalls(seed: number, count: number): CorpusCall[] {
  const random = randomFrom(seed);
  const calls = new Map<string, CorpusCall>();
  const add = (call: Omit<CorpusCall, 'decision'>): void => {
    calls.set(JSON.stringify([call.rule, call.input]), { ...call, decision: null });
  };
  for (const { tool, field, input, beside } of FILE_RULES)
    for (const path of FILES_OUTSIDE)
      add({ rule: allow(tool, input), tool, input: { [field]: path, ...beside }, how: 'a file elsewhere' });
  for (const [input] of MOVED)
    for (const word of ['out-link', 'out-link/passwd', 'dangling', 'env-link.ts', './out-link'])
      add({
        rule: allow('Bash', input),
        tool: 'Bash',
        input: { command: moved(input, word) },
        how: 'a link of another folder',
      });
  for (const [input, command] of OPTIONS_AS_PATHS)
    add({
      rule: allow('Bash', input),
      tool: 'Bash',
      input: { command },
      how: 'an option that is a path as well',
    });
  for (const input of URL_RULES)
    for (const url of URLS_OUTSIDE)
      add({
        rule: allow('WebFetch', input),
        tool: 'WebFetch',
        input: { url, prompt: 'x' },
        how: 'another address',
      });
  while (calls.size < count) {
    const base = pick(random, BASES);
    const rule = allow('Bash', base.input);
    // Nothing can be inserted into a quoted word.
    const honest = pick(
      random,
      base.honest.filter((command) => !/["'\\]/.test(command)),
    );
    if (random() < 0.1) {
      add({ rule, tool: 'Bash', input: pick(random, ARGUMENTS)(honest), how: 'other arguments' });
      continue;
    }
    const [how, change] = pick(random, MUTATIONS);
    let command = change(honest, base, random);
    // Every third call has one more change.
    if (random() < 1 / 3) command = pick(random, MUTATIONS.slice(0, 4))[1](command, base, random);
    add({ rule, tool: 'Bash', input: { command }, how });
  }
  return [...calls.values()];
}

const WORDS = [
  'src/a.ts',
  'main',
  'word',
  "'quoted'",
  '"a-b"',
  'lib',
  'v1.2',
  'HEAD~2',
  'a_b',
  'x+y',
  './src',
  'été',
];
const DENYING: readonly (readonly [input: string, denied: readonly string[], not: readonly string[]])[] = [
  [
    '*git push*',
    ['git push', 'cd x && git push -f', "git 'push'", 'git  push', 'true;git push'],
    ['git pull', 'git log'],
  ],
  ['rm *', ['rm x', 'cd y; rm -rf x', 'ls | rm x', '"rm" x', 'true && rm x'], ['ls rm', 'npm test']],
  ['*curl*', ['curl x', 'x=$(curl y)', 'cu"r"l x', 'bash -c "curl x"'], ['wget x', 'npm test']],
  [
    'npm publish*',
    ['npm publish', 'npm publish --tag x', '(npm publish)', 'echo `npm publish`'],
    ['npm test', 'npm pack'],
  ],
];

/** Calls with the decision that their rule says. */
export function honestCalls(seed: number, count: number): CorpusCall[] {
  const random = randomFrom(seed);
  const calls = new Map<string, CorpusCall>();
  const add = (rule: CorpusCall['rule'], command: string, decision: CorpusCall['decision']): void => {
    calls.set(JSON.stringify([rule, command]), {
      rule,
      tool: 'Bash',
      input: { command },
      decision,
      how: 'honest',
    });
  };
  for (const { input, honest } of BASES) {
    for (const command of honest) add(allow('Bash', input), command, 'allow');
    for (const other of ['make', 'npm install', 'git status', 'ls lib'])
      add(allow('Bash', input), other, null);
  }
  for (const [input, denied, not] of DENYING) {
    const rule = { decision: 'deny', tool: 'Bash', input };
    for (const command of denied) add(rule, command, 'deny');
    for (const command of not) add(rule, command, null);
  }
  for (const [input, decision] of MOVED)
    for (const word of ['a.ts', 'deep/a.ts', 'new']) add(allow('Bash', input), moved(input, word), decision);
  const open = ['npm test*', 'npm test *', 'git log*', 'git diff *', 'npm run build*'];
  while (calls.size < count) {
    const input = pick(random, open);
    const words = Array.from({ length: 1 + Math.floor(random() * 4) }, () => pick(random, WORDS));
    add(allow('Bash', input), [input.replace(/ ?\*$/, ''), ...words].join(pick(random, SPACES)), 'allow');
  }
  return [...calls.values()];
}

function allow(tool: string, input: string): CorpusCall['rule'] {
  return { decision: 'allow', tool, input };
}

/** A call of such a rule: the last star is this word, and another one the folder. */
function moved(input: string, word: string): string {
  return input.replace('* *', 'src *').replace('*', word);
}
