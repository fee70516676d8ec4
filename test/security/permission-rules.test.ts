/**
 * Calls that no permission rule of the human can be made to allow: a corpus of attacks, and the examples of the documentation.
 *
 * @module-tag no-authority
 * @module-tag as-displayed
 * @module-tag hook
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { deniableTexts } from '../../src/domain/denied-texts.ts';
import { decidingRule, readRules, rulesForTool } from '../../src/domain/permission-rules.ts';
import type { Place } from '../../src/domain/places.ts';
import { placeAt } from '../../src/infrastructure/platform/place.ts';
import { callOf } from '../support/hooks.ts';
import { beforeFile } from '../support/lifetime.ts';
import { tempFolder } from '../support/temp.ts';
import { type CorpusCall, honestCalls, hostileCalls } from './rule-corpus.ts';

const NOW = '2026-11-23T12:00:00.000Z';
const SESSION = { project: 'demo', project_dir: '/demo', source: 'main' as const, machine: 'here' };
const SEED = 20_260_301;

const HOSTILE = hostileCalls(SEED, 10_000);
const HONEST = honestCalls(SEED, 320);

let place: Place;
let here = '';

/** The directory in which the agent works: it has links that lead out of it, and what is hidden. */
function lay(): void {
  here = realpathSync.native(tempFolder());
  for (const folder of ['src/deep', 'src/x', 'lib', 'tests', 'out', '.git', 'src/.git/hooks'])
    mkdirSync(join(here, folder), { recursive: true });
  // An agent can make folders whose names are options.
  for (const folder of ['-o..', '-e1e sh src/x', '-Ix', '+source x'])
    mkdirSync(join(here, folder), { recursive: true });
  for (const file of ['src/a.ts', 'src/deep/a.ts', '.env', 'src/.env', '.git/config'])
    writeFileSync(join(here, file), '');
  symlinkSync('/etc', join(here, 'out-link'));
  symlinkSync('/etc', join(here, 'src/out-link'));
  symlinkSync('.env', join(here, 'src/env-link.ts'));
  for (const name of ['dangling', 'src/dangling', 'src/dangling.ts'])
    symlinkSync('/nowhere/at/all', join(here, name));
  place = { ...placeAt(here), project_dir: SESSION.project_dir };
}

beforeFile(async () => lay());

function decide({ rule, tool, input }: Pick<CorpusCall, 'rule' | 'tool' | 'input'>): string | null {
  const written = <T>(value: T): T => JSON.parse(JSON.stringify(value).replaceAll('@HERE@', here)) as T;
  const { rules, problems } = readRules([written(rule)], 'trust.json');
  expect(problems).toEqual([]);
  return (
    decidingRule(rulesForTool(rules, callOf(tool, written(input)), place), SESSION, NOW)?.decision ?? null
  );
}

/** Whether a rule for this tool, which allows unless it says otherwise, matches the call. */
function matches(rule: object, name: string, input: Record<string, unknown>, at: Place = place): boolean {
  const { rules } = readRules([{ decision: 'allow', tool: name, ...rule }], 'a test');
  return rulesForTool(rules, callOf(name, input), at).length > 0;
}
const matchesCommand = (input: string, command: string, at?: Place): boolean =>
  matches({ input }, 'Bash', { command }, at);

test.each([...new Set(HOSTILE.map(({ how }) => how))])(
  'no hostile variant of an allowed call is allowed by its rule: by %s',
  (how) => {
    const allowed = HOSTILE.filter((call) => call.how === how && decide(call) !== null);
    expect(allowed.map(({ rule, input }) => [rule['input'], input])).toEqual([]);
  },
);

test('an ordinary call is decided as its rule says', () => {
  expect(HONEST.filter((call) => decide(call) !== call.decision)).toEqual([]);
  expect(new Set(HONEST.map(({ decision }) => decision))).toEqual(new Set(['allow', 'deny', null]));
});

test.each([
  ['npm test*', 'npm test --script-shell=./evil'],
  ['git log*', 'git log --output=x'],
  ['find*', 'find . -delete'],
])('the examples of the documentation hold: %j does not allow %j', (input, command) => {
  const rule = { decision: 'allow', tool: 'Bash', input };
  expect(decide({ rule, tool: 'Bash', input: { command } })).toBeNull();
  const [honest = ''] = command.split(' -');
  expect(decide({ rule, tool: 'Bash', input: { command: honest } })).toBe('allow');
});

describe('a rule that sets a variable', () => {
  test.each([
    "'PAGER=./src' git log",
    'PAGER"="./src git log',
    'PAGER\\=./src git log',
    "''PAGER=./src git log",
  ])('allows no program that has the name of the variable: %s', (command) => {
    const folder = tempFolder();
    mkdirSync(join(folder, 'PAGER=.'));
    writeFileSync(join(folder, 'PAGER=./src'), '#!/bin/sh\necho ran\n', { mode: 0o700 });
    const { stdout } = spawnSync('sh', ['-c', command], { cwd: folder, encoding: 'utf8' });
    expect(stdout).toBe('ran\n');
    for (const input of ['PAGER=./src git log', 'PAGER=./src git log*'])
      expect([input, matchesCommand(input, command)]).toEqual([input, false]);
  });

  test('and a keyword allows no command on which its condition has no effect', () => {
    const input = 'if false\nthen\necho ran\nfi';
    const command = "'if' false\n\\then\necho ran\n''fi";
    const ran = (line: string): string => spawnSync('sh', ['-c', line], { encoding: 'utf8' }).stdout;
    expect([ran(input), ran(command)]).toEqual(['', 'ran\n']);
    expect([
      matchesCommand(input, input),
      matchesCommand(input, `${input} `),
      matchesCommand(input, command),
    ]).toEqual([true, true, false]);
  });

  test('allows it in quotes where a shell still takes it for a variable', () => {
    for (const command of ["PAGER='./src' git log", 'PAGER=./"src" git log', 'PAGER=""./src git log'])
      expect([command, matchesCommand('PAGER=./src git log*', command)]).toEqual([command, true]);
    expect(matchesCommand("'PAGER=./src' git log *", "'PAGER=./src' git log x")).toBe(true);
    expect(matchesCommand("'PAGER=./src' git log *", 'PAGER=./src git log x')).toBe(false);
  });

  test.each(['PAGER=./* git log', 'CC=./cc env *', 'A=b PYTHONPATH=./src python *', 'CC=/bin/cc > log sh *'])(
    'is not used if a path in it hides that a star may be a program: %s',
    (input) => {
      expect(readRules([{ decision: 'allow', tool: 'Bash', input }], 'a test').problems).toHaveLength(1);
    },
  );

  test('allows no program that runs a word where a star stands for the program', () => {
    expect(matchesCommand('A=./b * run *', 'A=./b npm run x')).toBe(true);
    expect(matchesCommand('A=./b * run *', 'A=./b uv run x')).toBe(false);
  });
});

test('a star after cd matches only in the directory that the rule names', () => {
  for (const one of ['docs', 'sub']) mkdirSync(join(here, 'moved', one), { recursive: true });
  symlinkSync('/etc/passwd', join(here, 'moved/docs/x'));
  symlinkSync('/', join(here, 'moved/sub/r'));
  const allowed = (input: string, command: string): boolean =>
    matchesCommand(input, command, placeAt(join(here, 'moved')));
  for (const [input, honest, evil] of [
    ['cd docs && cat *', 'cd docs && cat y', 'cd docs && cat x'],
    ['cd sub && rm *', 'cd sub && rm y', 'cd sub && rm r'],
    ['git -C sub add *', 'git -C sub add y', 'git -C sub add r'],
    ['make -C sub *', 'make -C sub y', 'make -C sub r'],
    ['npm --prefix=sub test *', 'npm --prefix=sub test y', 'npm --prefix=sub test r'],
    ['make -C *', 'make -C sub y', 'make -C sub r'],
    ['git -C sub > log add *', 'git -C sub > log add y', 'git -C sub > log add r'],
    ['git -C > log sub add *', 'git -C > log sub add y', 'git -C > log sub add r'],
    ['runner --root > log sub *', 'runner --root > log sub y', 'runner --root > log sub r'],
    ['command > log cd sub && rm *', 'command > log cd sub && rm y', 'command > log cd sub && rm r'],
  ] as const)
    expect([input, allowed(input, honest), allowed(input, evil)]).toEqual([input, true, false]);
  // Where the directory is a link that leads out, its name says nothing.
  symlinkSync('docs', join(here, 'moved/inner'));
  symlinkSync('/etc', join(here, 'moved/out'));
  for (const [input, command] of [
    ['cd DIR && cat *', 'cd DIR && cat y'],
    ['make -C DIR *', 'make -C DIR y'],
    ['npm --prefix=DIR test *', 'npm --prefix=DIR test y'],
    ['A=DIR runner *', 'A=DIR runner y'],
  ] as const) {
    const within = (folder: string): boolean =>
      allowed(input.replace('DIR', folder), command.replace('DIR', folder));
    expect([input, within('docs'), within('inner'), within('out')]).toEqual([input, true, true, false]);
  }
  expect(allowed('A=b GIT_SSH_COMMAND=* git pull', 'A=b GIT_SSH_COMMAND=y git pull')).toBe(false);
  expect(allowed('cd * && cat *', 'cd docs && cat y')).toBe(false);
  expect(allowed('cd sub && cd * && npm test', 'cd sub && cd r && npm test')).toBe(false);
});

test('nothing is allowed by a path that goes up behind a link, which means another file to a shell than to the kernel', () => {
  const folder = realpathSync.native(tempFolder());
  const work = join(folder, 'work');
  for (const one of ['work/packages/app/deep/er', 'packages'])
    mkdirSync(join(folder, one), { recursive: true });
  symlinkSync('deep/er', join(work, 'packages/app/link'));
  symlinkSync('packages/app/deep', join(work, 'link'));
  const allowed = (tool: string, input: string, given: Record<string, unknown>): boolean =>
    matches({ input }, tool, given, placeAt(work));
  const command = 'cd packages/app/link/../../../../packages && pwd';
  const { stdout } = spawnSync('sh', ['-c', command], { cwd: work, encoding: 'utf8' });
  expect(stdout.trim()).toBe(join(folder, 'packages'));
  expect(allowed('Bash', 'cd packages/* && pwd', { command })).toBe(false);
  expect(allowed('Bash', 'vitest --root=* run', { command: 'vitest --root=link/../../x run' })).toBe(false);
  for (const path of ['link/../../x', `${work}/link/../../x`, `${work}/packages/app/link/../../../../x`])
    expect([path, allowed('Read', join(work, '*'), { file_path: path })]).toEqual([path, false]);
  // Where both readings are the same, it is.
  expect(allowed('Bash', 'cd packages/* && pwd', { command: 'cd packages/app/../app && pwd' })).toBe(true);
  expect(allowed('Read', join(work, '*'), { file_path: `${work}/packages/../packages/x` })).toBe(true);
  expect(allowed('Read', join(work, '*'), { file_path: join(work, 'link/x') })).toBe(true);
});

test('a rule that denies a link denies what it leads to, by either name', () => {
  const folder = realpathSync.native(tempFolder());
  for (const one of ['data/prod', 'work']) mkdirSync(join(folder, one), { recursive: true });
  symlinkSync('../data/prod', join(folder, 'work/live'));
  const isDenied = (input: string, file_path: string): boolean =>
    matches(
      { decision: 'deny', input: join(folder, input) },
      'Read',
      { file_path },
      placeAt(join(folder, 'work')),
    );
  for (const input of ['work/live/*', 'work/live/key', 'data/prod/*', 'work/live/k*'])
    for (const path of ['live/key', '../data/prod/key', join(folder, 'data/prod/key')])
      expect([input, path, isDenied(input, path)]).toEqual([input, path, true]);
  expect(isDenied('work/live/*', 'key')).toBe(false);
});

test('a star matches all of a folder as Go writes it, and text that is too long for the name of a file', () => {
  const folder = realpathSync.native(tempFolder());
  for (const one of ['pkg', 'cmd']) mkdirSync(join(folder, one));
  symlinkSync('/etc', join(folder, '...'));
  symlinkSync('/etc', join(folder, 'out'));
  const allowed = (input: string, command: string): boolean =>
    matchesCommand(input, command, placeAt(folder));
  expect(allowed('go test *', 'go test ./... pkg/...')).toBe(true);
  expect(allowed('go test*', 'go test out/...')).toBe(false);
  expect(allowed('cat *', 'cat ./...')).toBe(false);
  const message = 'a long line '.repeat(30);
  expect(allowed('git commit -m *', `git commit -m '${message}'`)).toBe(true);
  expect(allowed('git commit -m *', `git commit -m '/etc/${message}'`)).toBe(false);
});

describe('a rule that denies files', () => {
  let work = '';
  const isDenied = (input: string, tool: string, given: Record<string, unknown>, cwd = work): boolean =>
    matches({ decision: 'deny', tool: '*', input }, tool, given, {
      ...placeAt(cwd),
      home: join(work, 'home'),
    });

  beforeEach(() => {
    work = realpathSync.native(tempFolder());
    for (const one of ['prod', 'home/.ssh', 'src/deep', '.git', 'caf\u00e9'])
      mkdirSync(join(work, one), { recursive: true });
    writeFileSync(join(work, 'src/a.ts'), '');
    symlinkSync('src/deep', join(work, 'link'));
  });

  test.each([
    'missing/../prod/key',
    'src/a.ts/../../prod/key',
    'link/../../prod/key',
    'link/../prod/key',
    `${'./'.repeat(3_000)}prod/key`,
    '~/../prod/key',
    ' prod/key',
  ])('denies one by whatever path a client may find it (%#)', (path) => {
    const files = [
      ['prod/*', ['Read', { file_path: path }]],
      [join(work, 'prod/*'), ['Read', { file_path: `${work}/${path.trim()}` }]],
      [join(work, 'prod/*'), ['apply_patch', { command: `*** Begin Patch\n*** Delete File: ${path}\n` }]],
    ] as const;
    for (const [input, [tool, given]] of path.startsWith('~') ? [files[0]] : files)
      expect([input, tool, isDenied(input, tool, given)]).toEqual([input, tool, true]);
  });

  test('is meant from the directory of the agent and from that of the project, if it does not begin at the root', () => {
    for (const [input, path] of [
      ['prod/*', 'prod/key'],
      ['./prod/*', 'prod/key'],
      ['.env', '.env'],
      ['src/../.env', '.env'],
    ] as const)
      for (const cwd of [work, join(work, 'src')])
        expect([input, isDenied(input, 'Write', { file_path: join(work, path) }, cwd)]).toEqual([
          input,
          true,
        ]);
    expect(isDenied('deep/*', 'Write', { file_path: join(work, 'src/deep/x') }, join(work, 'src'))).toBe(
      true,
    );
    expect(isDenied('prod/*', 'Write', { file_path: join(work, 'src/a.ts') })).toBe(false);
  });

  test('knows the home directory, letters that are composed, and arguments that are called paths', () => {
    const key = join(work, 'home/.ssh/key');
    for (const input of ['~/.ssh/*', join(work, 'home/.ssh/*')])
      for (const path of ['~/.ssh/key', key]) expect(isDenied(input, 'Read', { file_path: path })).toBe(true);
    expect(isDenied('caf\u00e9/*', 'Read', { file_path: 'cafe\u0301/menu' })).toBe(true);
    for (const name of ['path', 'filePath', 'target_file', 'directory'])
      expect(isDenied(join(work, 'prod'), 'Grep', { pattern: 'x', [name]: 'prod' })).toBe(true);
    expect(isDenied(join(work, 'prod'), 'Grep', { pattern: 'prod' })).toBe(false);
    // Also in a list, and where a tool takes several of them.
    for (const given of [{ files: ['prod'] }, { edits: [{ path: 'prod', text: 'x' }] }])
      expect(isDenied(join(work, 'prod'), 'mcp__files__edit', given)).toBe(true);
    expect(isDenied(join(work, 'prod'), 'mcp__files__edit', { edits: [{ text: 'prod' }] })).toBe(false);
  });
});

describe('a rule that denies a command', () => {
  const isDenied = (command: string): boolean =>
    matches({ decision: 'deny', input: 'git push*' }, 'Bash', { command });

  test.each([
    'timeout 60 git push',
    'timeout -s KILL 60 git -C . push',
    'nice -n 5 git push',
    'sudo  -u ada git push origin',
    'env -i A=b git push',
    'command -p git push',
    'stdbuf -oL nice git push',
    'bash -c "git push"',
    "bash -lc 'cd x && git -C . push origin'",
    'eval "git push"',
    'echo origin | xargs -n 1 git push',
    'find . -maxdepth 1 -exec git push {} \\;',
    'git submodule foreach git push',
    'cd x && git 2>/dev/null push',
    'git >log push',
    'git > log -C . push',
    'ssh host git push',
    'ssh localhost "git push"',
    'ssh -o A=b -o C=d -o E=f -o G=h localhost git push',
    'env -u A -u B -u C -u D -u E git push',
    'docker run --rm -it -v /:/x -w /x --name a --net host box git push',
    `bash -c 'bash -c "git push"'`,
    'eval "eval git push"',
    'fakeroot git push',
    'perf stat -e cycles git push',
    'uv run git push',
    'uv run --with x git push',
    'npx git push',
    'pnpm exec git push',
    'npm exec -- git push',
    'poetry run git push',
    'direnv exec . git push',
    'nix develop -c git push',
    'nix-shell --run "git push"',
    'docker run -v /:/x box git push',
    'taskset 0x3 git push',
    'mise exec -- git push',
    'cross-env A=b git push',
    "bash -c 'A=b git push'",
    'find . -exec sh -c "git push" \\;',
    'git>log push',
    'git<&0 push',
    'git {fd}>log push',
    'git&>log push',
    "$'git' push",
    'git $"push"',
    'x=$(git -C . push)',
    'echo "$(A=b git push)"',
    'A[0]=x git push',
    'noglob git push',
    'echo git push | sh',
    'echo "git push" | sudo bash -s',
    "printf 'git push\\n' | /bin/sh",
    "sh <<< 'git push'",
    "alias g='git push'\ng",
    'env -S"git push"',
    `git${' -c a=b'.repeat(40)} push`,
    `timeout 60 git push ${'x'.repeat(30_000)}`,
  ])('denies it where another program runs it, and around a redirection: %s', (command) =>
    expect(isDenied(command)).toBe(true),
  );

  test.each([
    'timeout 60 git pull',
    'echo git push',
    'grep -rn "git push" docs',
    'git commit -m "do not git push"',
    'git log > push',
    'cat git > x push',
    'echo git push | cat',
    'sh src/build.sh; echo git push',
    'bash -x < src/build.sh && grep "git push" docs',
  ])('does not deny what only names it: %s', (command) => expect(isDenied(command)).toBe(false));

  test('is compared with a bounded number of texts, however many commands a line has and whatever they might run', () => {
    for (const [count, most] of [
      [1, 70],
      [200, 70],
      [20, 700],
      [1, 20_000],
    ] as const)
      for (const word of [' -a', ' x', ' "a b"', ' find -exec', ' >x']) {
        // Each word is another one, or many of the texts would be the same.
        const words = Array.from({ length: most }, (_, at) => `${word}${at}`).join('');
        const command = Array.from({ length: count }, (_, at) => `env${words} ${at}`).join(';');
        const call = { name: 'Bash', input: { command }, use_id: null, response: null, own: null };
        const characters = deniableTexts(call, place).reduce((sum, { length }) => sum + length, 0);
        expect(characters).toBeLessThan(3_000_000 + 30 * command.length);
      }
  });

  test('takes time that grows with the length of the command only', () => {
    for (const text of ['env ', 'env -a ', '>x ', 'find -exec ', '"env'])
      expect(isDenied(`${text.repeat(100_000)}x`)).toBe(false);
  });
});

test.each(['', 'ada'])('the home directory of a rule is the one of the system where HOME is %j', (home) => {
  vi.stubEnv('HOME', home);
  onTestFinished(() => void vi.unstubAllEnvs());
  expect(placeAt('/').home).toBe(userInfo().homedir);
});

test('a rule that denies in a project denies there, whichever project the session is of', () => {
  const folder = realpathSync.native(tempFolder());
  const [one, other, plain] = [join(folder, 'one'), join(folder, 'other'), join(folder, 'plain')];
  for (const made of [join(one, '.git'), other, join(plain, 'sub')]) mkdirSync(made, { recursive: true });
  const isDenied = (project: string, cwd: string, project_dir: string): boolean => {
    const { rules } = readRules([{ decision: 'deny', tool: 'Bash', input: 'git push*', project }], 'a test');
    const matching = rulesForTool(rules, callOf('Bash', { command: 'git push' }), placeAt(cwd));
    return decidingRule(matching, { ...SESSION, project_dir }, NOW) !== null;
  };
  for (const project of [one, `${one}/`]) {
    expect(isDenied(project, one, join(one, '.git'))).toBe(true);
    // The agent went there from another project, or its session was there before it left.
    expect(isDenied(project, one, other)).toBe(true);
    expect(isDenied(project, other, join(one, '.git'))).toBe(true);
    expect(isDenied(project, other, other)).toBe(false);
  }
  for (const project of [plain, `${plain}/`])
    for (const cwd of [plain, join(plain, 'sub')]) expect(isDenied(project, cwd, cwd)).toBe(true);
});

describe('a rule that allows in a project', () => {
  const RULES = readRules(
    [{ decision: 'allow', tool: 'Bash', input: 'npm test', project: '/replaced' }],
    'a test',
  ).rules;

  /** Whether it allows the call in this directory, of a session that the store puts into the project. */
  function allows(project: string, cwd: string): boolean {
    const rules = RULES.map((rule) => ({ ...rule, project }));
    const matching = rulesForTool(rules, callOf('Bash', { command: 'npm test' }), placeAt(cwd));
    return (
      decidingRule(matching, { ...SESSION, project_dir: join(project, '.git') }, NOW)?.decision === 'allow'
    );
  }

  function repository(): { trusted: string; folder: string } {
    const folder = realpathSync.native(tempFolder());
    const trusted = join(folder, 'trusted');
    mkdirSync(join(trusted, '.git/worktrees/w'), { recursive: true });
    mkdirSync(join(trusted, 'src'));
    writeFileSync(join(trusted, '.git/HEAD'), 'ref: refs/heads/main\n');
    return { trusted, folder };
  }

  test('decides by where the call runs, whatever the store says about its session', () => {
    const { trusted, folder } = repository();
    expect(allows(trusted, join(trusted, 'src'))).toBe(true);
    expect(allows(trusted, folder)).toBe(false);
  });

  test('allows nothing in a folder whose .git only claims to be a worktree of the project', () => {
    const { trusted, folder } = repository();
    const [evil, worktree] = [join(folder, 'evil'), join(folder, 'worktree')];
    for (const one of [evil, worktree]) mkdirSync(one);
    writeFileSync(join(evil, '.git'), `gitdir: ${trusted}/.git\n`);
    expect(allows(trusted, evil)).toBe(false);
    // Git itself writes links in both directions for a worktree.
    const admin = join(trusted, '.git/worktrees/w');
    writeFileSync(join(worktree, '.git'), `gitdir: ${admin}\n`);
    writeFileSync(join(admin, 'HEAD'), 'ref: refs/heads/w\n');
    writeFileSync(join(admin, 'commondir'), '../..\n');
    expect(allows(trusted, worktree)).toBe(false);
    writeFileSync(join(admin, 'gitdir'), `${worktree}/.git\n`);
    expect(allows(trusted, worktree)).toBe(true);
    writeFileSync(join(evil, '.git'), `gitdir: ${admin}\n`);
    expect(allows(trusted, evil)).toBe(false);
  });

  test('allows nothing in a folder that proves its project with files of its own', () => {
    const { trusted, folder } = repository();
    const [own, round] = [join(folder, 'own'), join(folder, 'round')];
    mkdirSync(join(own, '.git'), { recursive: true });
    writeFileSync(join(own, '.git/HEAD'), 'ref: refs/heads/main\n');
    expect(allows(own, own)).toBe(true);
    writeFileSync(join(own, '.git/commondir'), `${trusted}/.git\n`);
    expect(allows(trusted, own)).toBe(false);
    // The links exist in both directions, but not through the repository that it names.
    mkdirSync(join(round, 'g'), { recursive: true });
    writeFileSync(join(round, '.git'), 'gitdir: g\n');
    writeFileSync(join(round, 'g/HEAD'), 'ref: refs/heads/main\n');
    writeFileSync(join(round, 'g/gitdir'), '../.git\n');
    writeFileSync(join(round, 'g/commondir'), `${trusted}/.git\n`);
    expect(allows(trusted, round)).toBe(false);
  });

  test('allows nothing in a folder of the project that git takes for a repository of its own', () => {
    const { trusted } = repository();
    const own = join(trusted, 'src/own');
    for (const one of ['objects', 'refs', 'deep']) mkdirSync(join(own, one), { recursive: true });
    expect(allows(trusted, own)).toBe(true);
    writeFileSync(join(own, 'HEAD'), 'ref: refs/heads/main\n');
    writeFileSync(
      join(own, 'config'),
      '[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tworktree = deep\n\tfsmonitor = "touch ran; false"\n',
    );
    spawnSync('git', ['status'], { cwd: own, env: { PATH: process.env['PATH'], GIT_CONFIG_NOSYSTEM: '1' } });
    expect(existsSync(join(own, 'deep/ran'))).toBe(true);
    for (const cwd of [own, join(own, 'deep')]) expect(allows(trusted, cwd)).toBe(false);
    // Nor does a star lead there.
    mkdirSync(join(trusted, 'src/other'));
    for (const input of [
      'git -C * status',
      'cd * && git status',
      'cd src/* && git status',
      'git -C src/* status',
    ])
      for (const [name, expected] of [
        ['other', true],
        ['own', false],
        ['own/deep', false],
      ] as const) {
        const command = input.replace(/(?:src\/)?\*/, `src/${name}`);
        const isMatched = matches({ input, project: trusted }, 'Bash', { command }, placeAt(trusted));
        expect([command, isMatched]).toEqual([command, expected]);
      }
  });

  test('allows nothing in a folder of the project that git takes for a worktree of a repository beside it', () => {
    const { trusted } = repository();
    const own = join(trusted, 'src/own');
    for (const one of ['common/objects', 'common/refs', 'deep'])
      mkdirSync(join(own, one), { recursive: true });
    const files: Readonly<Record<string, string>> = {
      HEAD: 'ref: refs/heads/main\n',
      commondir: 'common\n',
      'config.worktree': '[core]\n\tbare = false\n\tworktree = deep\n',
      'common/config':
        '[core]\n\trepositoryformatversion = 1\n\tfsmonitor = "touch ran; false"\n[extensions]\n\tworktreeConfig = true\n',
    };
    for (const [name, text] of Object.entries(files)) writeFileSync(join(own, name), text);
    spawnSync('git', ['status'], { cwd: own, env: { PATH: process.env['PATH'], GIT_CONFIG_NOSYSTEM: '1' } });
    expect(existsSync(join(own, 'deep/ran'))).toBe(true);
    for (const cwd of [own, join(own, 'deep')]) expect(allows(trusted, cwd)).toBe(false);
  });

  test('allows nothing in another folder that a link within the project leads to', () => {
    const { trusted, folder } = repository();
    mkdirSync(join(folder, 'evil'));
    symlinkSync(join(folder, 'evil'), join(trusted, 'link'));
    expect(allows(trusted, join(trusted, 'link'))).toBe(false);
    // A link to the project itself is another name of it.
    symlinkSync(trusted, join(folder, 'name'));
    expect(allows(join(folder, 'name'), join(folder, 'name/src'))).toBe(true);
  });
});
