/** The human's permission rules: what they match, and above all what a rule that allows does not match. */
import { posix } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { HookTool } from '../../src/domain/hooks.ts';
import { decidingRule, readRules, rulesForTool } from '../../src/domain/permission-rules.ts';
import { NOWHERE, type Place } from '../../src/domain/places.ts';
import { everyCharacter } from '../support/unicode.ts';

const NOW = '2026-11-23T12:00:00.000Z';
const SESSION = { project: 'demo', project_dir: '/demo/.git', source: 'main' as const, machine: 'here' };
/** A directory without links. */
const PLACE: Place = { cwd: '/demo', resolve: (path) => posix.resolve('/demo', path) };

function tool(name: string, input: Record<string, unknown>): HookTool {
  return { name, input, use_id: null, response: null, own: null };
}
const bash = (command: string): HookTool => tool('Bash', { command });

/** The decision about a tool under these rules: allow, deny, or null. */
function decision(given: HookTool, ...rules: object[]): string | null {
  const { rules: read, problems } = readRules(rules, 'test');
  expect(problems).toEqual([]);
  return decidingRule(rulesForTool(read, given, PLACE), SESSION, NOW)?.decision ?? null;
}

const allows = (input: string, given: HookTool, name = 'Bash'): boolean =>
  decision(given, { decision: 'allow', tool: name, input }) === 'allow';

describe('a rule that allows a command', () => {
  test.each([
    ['npm test *', 'npm test src/a.ts src/b.ts'],
    ['npm test *', '"npm" test  \'src/a.ts\''],
    ['npm test -- *', 'npm test -- src/a.ts'],
    ['npm test*', 'npm test'],
    ['npm test*', 'npm test src/a.ts'],
    ['npm run test:*', 'npm run test:unit'],
    ['npm test --reporter=*', 'npm test --reporter=a-b.c'],
    ['ls -*', 'ls --sort=size'],
    ['ls -*', 'ls -l -a --sort=size'],
    ['git log --*', 'git log --oneline --author=ada'],
    ['git log*', 'git log'],
    ['git log -* *', 'git log -p src'],
    ['make CC=*', 'make CC=gcc'],
    ['grep -r * src', 'grep -r "two words, or = three" src'],
    ['git push origin *', 'git push origin feature/x'],
    ['timeout 60 npm test *', 'timeout 60 npm test src/a.ts'],
    ['env CI=1 npm test *', 'env CI=1 npm test src/a.ts'],
    ['sed -n 1,9p *', 'sed -n 1,9p src/a.ts'],
    ['node scripts/build.mjs *', 'node scripts/build.mjs all'],
    ['python -m pytest *', 'python -m pytest tests'],
    ['python3.12 -m pytest *', 'python3.12 -m pytest tests'],
    ['base64 *', 'base64 src/a.ts'],
    ['uv run pytest *', 'uv run pytest tests'],
    ['uv run pytest*', 'uv run pytest tests'],
    ['uv --offline run pytest *', 'uv --offline run pytest tests'],
    ['go test*', 'go test ./...'],
    ['go vet *', 'go vet ./pkg/... cmd/...'],
    ['git show *:src/a.ts', 'git show HEAD~1:src/a.ts'],
    ['git push origin *:*', 'git push origin a:b/c'],
    ['npm install @types/*', 'npm install @types/node'],
    ['curl https://example.org/*', 'curl https://example.org/a/b'],
    ['npx jest*', 'npx jest'],
    ['npx jest*', 'npx jest src'],
    ['npx jest --ci*', 'npx jest --ci src'],
    ['python -m pytest*', 'python -m pytest tests'],
    ['timeout 60 pytest*', 'timeout 60 pytest tests'],
    ['env CI=1 vitest*', 'env CI=1 vitest src'],
    ['bun run test*', 'bun run test src'],
    ['sed -n p*', 'sed -n p src/a.ts'],
    ['CI=1 * test', 'CI=1 npm test'],
    ['* run *', 'npm run build'],
    ['npm exec vitest *', 'npm exec vitest src'],
    ['nice -n10 npm test *', 'nice -n10 npm test src'],
    ['jq .name *', 'jq .name package.json'],
    ['nice -n 10 npm test *', 'nice -n 10 npm test src'],
    ['node scripts/*', 'node scripts/build.mjs'],
    ['cat src/*', "cat 'src/a b.ts'"],
    ['npm test --reporter=*', 'npm test --reporter=dot'],
    ['git log*', 'git log HEAD~3 main^2'],
    ['git log --oneline*', 'git log --oneline main'],
    ['find*', 'find . src'],
    ['cat src/*', 'cat src/deep/a.ts'],
    ['ls -*', 'ls -la'],
    ['npm test && npm run lint', 'npm test && npm run lint'],
    ['npm test * > out/*', 'npm test src > out/log.txt'],
    ['git log* | sed -n 1,9p', 'git log main | sed -n 1,9p'],
    ['cat src/* | jq -r .name', 'cat src/a.json | jq -r .name'],
    ['git ls-files* | xargs grep x', 'git ls-files src | xargs grep x'],
    ['cat * | *', 'cat src/a.ts | wc'],
    ['sort < src/*', 'sort < src/a.ts'],
    ['echo * | grep x', 'echo a b | grep x'],
    ['git commit -m *', 'git commit -m "fix: a thing, and another"'],
    ['* --version', 'node --version'],
    ['npm test*', 'npm test 2>&1'],
    ['npm test*', 'npm test src/a.ts 2>/dev/null'],
    ['npm test*', 'npm test 2>&1 | tail -20'],
    ['npm test*', 'npm test 2>&1 | grep -i "not ok" | head -n 5'],
    ['npm test*', 'cd /demo && npm test 2>&1 | tail -20'],
    ['npm test*', 'cd /demo/src/.. && npm test | wc -l'],
    ['npm test* 2>&1', 'npm test src 2>&1 | tail'],
    ['npm run lint* && npm test*', 'npm run lint && npm test | tail -3'],
  ])('%j allows %j', (rule, command) => expect(allows(rule, bash(command))).toBe(true));

  test.each([
    ['npm test *', 'npm test'],
    ['ls -*', 'ls'],
    ['ls -*', 'ls -l src'],
    ['ls -*', 'ls -l --file=../x'],
    ['git log --*', 'git log --oneline -p'],
    ['git log -* src', 'git log -p -q src'],
    ['npm test *', 'npm install'],
    ['npm test *', 'sudo npm test x'],
    ['npm test *', 'npm test x; rm -rf x'],
    ['npm test *', 'npm test x && rm x'],
    ['npm test *', 'npm test x\nrm x'],
    ['npm test *', 'npm test $(rm x)'],
    ['npm test *', 'npm test `rm x`'],
    ['npm test *', 'npm test "$HOME"'],
    ['npm test *', 'npm test x > y'],
    ['npm test *', 'npm test < y'],
    ['npm test *', 'npm test x & rm x'],
    ['npm test *', 'npm test \\\nx'],
    ['npm test *', 'npm test ../other'],
    ['npm test *', 'npm test /etc/passwd'],
    ['npm test *', 'npm test a=/etc/passwd'],
    ['npm test *', 'npm test .git/config'],
    ['npm test *', 'npm test *'],
    ['npm test *', 'npm test {a,--b}'],
    ['npm test *', "npm test '-'x"],
    ['npm test *', 'npm test \\-x'],
    ['npm test *', 'npm test ""'],
    ['npm test *', 'npm test "x'],
    ['npm test *', `npm test ${'x'.repeat(3_000)}`],
    ['npm test*', 'npm test 2>&1 | tail -20 src/a.ts'],
    ['npm test*', 'npm test | tail -f'],
    ['npm test*', 'npm test | grep -r x'],
    ['npm test*', 'npm test | grep -f src/a.ts x'],
    ['npm test*', 'npm test | grep x .env'],
    ['npm test*', 'npm test | ./tail -20'],
    ['npm test*', 'npm test 2>/dev/null --script-shell=x'],
    ['npm test*', 'npm test 2>log'],
    ['npm test*', 'npm test 2>&1 | tail -20 > x'],
    ['npm test*', 'npm test 2>&1 | tail -20; rm x'],
    ['npm test*', 'npm test &>/dev/null'],
    ['npm test*', 'npm test |& tail'],
    ['npm test*', 'cd /other && npm test'],
    ['npm test*', 'cd demo && npm test'],
    ['npm test*', 'cd . && npm test'],
    ['npm test*', 'cd /demo; npm test'],
    ['npm test*', 'cd /demo && cd /demo && npm test'],
    ['npm test', 'npm test 2>&1'],
    ['npm run test*', 'npm run test:evil'],
    ['npm run test:*', 'npm run test:a:b'],
    ['npm test --reporter=*', 'npm test --reporter=a=b'],
    ['npm test *', "npm test 'a b'"],
    ['ls -*', 'ls --sort=a:b'],
    ['ls -*', 'ls --sort=../x'],
    ['make *', "make 'x:=$(shell id)'"],
    ['make src/*', "make 'src/x:=$(shell id)'"],
    ['make CC=*', "make 'CC=$(id)'"],
    ['git push origin *', 'git push origin +HEAD:main'],
    ['git push origin *', 'git push origin :main'],
    ['git push origin *', 'git push origin +main'],
    ['pytest -k *', 'pytest -k "__import__(1)"'],
    ['grep *', 'grep root /etc/passwd'],
    ['npm test*', 'npm tests'],
    ['npm test*', 'npm test-evil'],
    ['git log*', 'git log --output=x'],
    ['find*', 'findmnt'],
    ['find*', 'find . -delete'],
    ['cat src/*', 'cat src/../.env'],
    ['cat src/*', 'cat src/a.ts /etc/passwd'],
    ['cat src/*', "cat src/'.'./.env"],
    ['cat src/*', 'cat src/.?/x'],
    ['ls -*', 'ls -l/etc'],
    ['ls -*', 'ls -l src'],
    ['cat *', 'cat src/...'],
    ['go vet *', 'go vet ../...'],
    ['go vet *', 'go vet /...'],
    ['go vet *', 'go vet ...'],
    ['go vet *', 'go vet src/.../x'],
    ['go vet *', 'go vet .git/...'],
    ['git show *:src/a.ts', 'git show ../x:src/a.ts'],
    ['git show *:src/a.ts', 'git show -x:src/a.ts'],
    ['git push origin *:main', 'git push origin +x:main'],
    ['git push origin *:main', 'git push origin :main'],
    ['git push origin *:*', 'git push origin a:b:c'],
    ['npm install @types/*', 'npm install @types/a@b'],
    ['npm install @types/*', 'npm install @types/../x'],
    ['curl https://example.org/*', 'curl https://example.org.evil.example/a'],
    ['curl https://example.org/*', 'curl https://example.org/@evil.example'],
    ['curl https://example.org/*', 'curl https://example.org/../x'],
    ['npx jest*', 'npx jest-evil'],
    ['npx jest*', 'npx jests'],
    ['* *', 'sh src/a.ts'],
    ['cat * | *', 'cat src/a.ts | sh'],
    ['* < src/a.ts', 'sh < src/a.ts'],
    ['echo * | grep x', 'echo "a -f .env" | grep x'],
    ['* run *', 'uv run x'],
    ['* -n *', 'sed -n e'],
    ['CI=1 * *', 'CI=1 sh x'],
    ['CI=1 *', 'CI=1 src/a.sh'],
    ['bin/* *', 'bin/node x'],
    ['* --version', './evil --version'],
    ['* --version', 'A=b --version'],
    ['npm test && npm run lint', 'npm test && npm run lint2'],
    ['npm test && npm run lint', 'npm test || npm run lint'],
    ['npm test * > out/*', 'npm test src > out/../x'],
    ['npm test * > out/*', 'npm test src >> out/log.txt'],
  ])('%j does not allow %j', (rule, command) => expect(allows(rule, bash(command))).toBe(false));

  test('allows what is written out, whatever a shell makes of it', () => {
    const line = 'for f in *.ts; do echo "$f"; done';
    expect(allows('echo "$HOME"', bash('echo "$HOME"'))).toBe(true);
    expect(allows('echo "$HOME"', bash('echo "$HOM"'))).toBe(false);
    const { problems } = readRules([{ decision: 'allow', tool: 'Bash', input: line }], 'test');
    expect(problems).toEqual([
      'Rule 1 of test combines a star in its "input" with something that only a shell understands and is not used.',
    ]);
  });
});

test('a star in an open word matches letters, digits and what is in names and paths, of all characters', () => {
  const { rules } = readRules([{ decision: 'allow', tool: 'Bash', input: 'npm test *' }], 'test');
  const isTaken = (text: string): boolean =>
    rulesForTool(rules, bash(`npm test 'a${text}b'`), PLACE).length > 0;
  // Together, and each half by itself where not all of them are matched.
  const taken = (some: readonly string[]): readonly string[] => {
    if (isTaken(some.join(''))) return some;
    const half = Math.floor(some.length / 2);
    return half === 0 ? [] : [...taken(some.slice(0, half)), ...taken(some.slice(half))];
  };
  // A quote would end the word.
  const characters = everyCharacter().filter((one) => one !== "'");
  const { words = [], others = [] } = Object.groupBy(characters, (one) =>
    /[\p{L}\p{M}\p{N}_.+/-]/u.test(one) ? 'words' : 'others',
  );
  const all = Array.from({ length: Math.ceil(words.length / 256) }, (_, at) =>
    taken(words.slice(at * 256, (at + 1) * 256)),
  ).flat();
  expect(others.filter(isTaken)).toEqual([]);
  // Nothing that is another way to write an ASCII character.
  expect(all.filter((one) => one > '\u007f' && /^[\x00-\x7f]+$/.test(one.normalize('NFKC')))).toEqual([]);
  expect(all.filter((one) => one <= '\u007f').join('')).toBe(
    '+-./0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz',
  );
  expect(all.length).toBeGreaterThan(100_000);
});

describe('a rule with a star that its program may run', () => {
  test.each([
    'env *',
    'A=b env C=d *',
    'env -u X *',
    'xargs *',
    'xargs -n 1 *',
    'timeout 10 *',
    '/usr/bin/env *',
    'sh *',
    'sh -c *',
    'bash -x *',
    'node *',
    'node -e *',
    'node -r x.js -e *',
    'node -r x.js *',
    'flock x *',
    'awk -F x *',
    'sed -l 5 *',
    'timeout -s KILL *',
    'xargs -E x *',
    'ionice -c idle *',
    'python -c *',
    'python3 *',
    'python3.12 *',
    '/usr/bin/bash-5.2 *',
    'php8 -r *',
    'm4 *',
    'tcsh *',
    'npm exec *',
    'npm exec -- *',
    'npm exec*',
    'npm --silent exec *',
    'npm -w web exec *',
    'pnpm -r exec *',
    'uv --offline run *',
    'bun run *',
    'npx tsx*',
    'uv run python*',
    'sh*',
    'sed -n*',
    'sed -n 1p -e*',
    'tar cf x.tar -I*',
    'timeout 10*',
    'timeout -k*',
    'nice -n 10*',
    'A+=b env *',
    'ash *',
    'strace *',
    'pnpm dlx *',
    'bun x *',
    'uv run *',
    'uv run --with x *',
    'uv run python *',
    'tsx *',
    'pkexec *',
    'perl -ne *',
    'sed *',
    'sed -n *',
    'sed -n *p src/a.ts',
    'sed -n 1p -e *',
    'sed src/*',
    'awk *',
    'awk -Fx * src/a.ts',
    'jq *',
    'tar *',
    'tar -cf x.tar -I *',
    'ssh host *',
    'sudo *',
    'sudo -u ada npm test *',
    'docker exec box *',
    'npx *',
    'npm test && xargs *',
    'ls | sh *',
    'cat * | sh',
    'cat src/* | bash -s',
    'echo * |& sh -x',
    'git log* | xargs',
    'ls * | xargs -n 1',
    'ls * | timeout 10 sh',
    'cat * | sudo sh',
    'sh < *',
    'sh > log < *',
    'python3 < src/*',
    'npm test* && dc < x',
    'timeout 10 sh *',
    'env timeout 10 xargs sed *',
    'find src -name x -exec *',
    'find src -exec sh *',
    'fd x --exec *',
    'git bisect run *',
    'git submodule foreach *',
    'git rebase main --exec *',
    'go run *',
    'go test -exec *',
    'go run*',
    'go test -exec=*',
    'go build --toolexec *',
    'find src -exec*',
    'git bisect run*',
    'git rebase main --exec=*',
    'git rebase main --exec=npm*',
    'fakeroot *',
    'perf stat *',
    'perf stat -e cycles *',
    'npx -p typescript *',
    'npm exec -p typescript *',
    'uvx -p 3.12 *',
    'coverage run *',
    'python -m coverage run *',
    'taskset 0x3 *',
    'faketime yesterday *',
    'direnv exec . *',
    'direnv exec dir *',
    'nix run *',
    'nix develop -c *',
    'nix-shell --run *',
    'docker run box *',
    'make -f *',
    'make -f a.mk -f *',
    'make -f*',
    'make --file=*',
    'just -f *',
    'just --justfile=*',
    'cmake -P *',
    'cmake -E env *',
    'mise exec -- *',
    'rustup run stable *',
    'xvfb-run *',
    'dbus-run-session *',
    'doas *',
    'firejail *',
    'entr *',
    'find src | entr *',
    'git bisect run npm test && git bisect run *',
    'dotenv run *',
    'cross-env A=b *',
    'cargo watch -x *',
    'nodemon *',
    'aws-vault exec dev *',
    'setarch x86_64 *',
    'op run -- *',
  ])('is not used: %s', (input) => {
    const { rules, problems } = readRules([{ decision: 'allow', tool: 'Bash', input }], 'test');
    expect(rules).toEqual([]);
    expect(problems).toEqual([
      expect.stringMatching(/^Rule 1 of test has a star where [\w.-]+ may read it as a program or as code/),
    ]);
  });

  test.each(['env > log *', 'cat x | sh 2> log *', 'time > log -p env *'])(
    'is not used behind a redirection either: %s',
    (input) => {
      const { rules, problems } = readRules([{ decision: 'allow', tool: 'Bash', input }], 'test');
      expect(rules).toEqual([]);
      expect(problems).toEqual([expect.stringMatching(/may read it as a program or as code/)]);
    },
  );

  test.each(['*', 'B*', 'exec*'])('is not used for the tools %s either', (name) => {
    const given = ['env *', 'sh *', 'sudo *'].map((input) => ({ decision: 'allow', tool: name, input }));
    expect(readRules(given, 'test')).toEqual({
      rules: [],
      problems: [
        'Rule 1 of test has a star where env may read it as a program or as code and is not used.',
        'Rule 2 of test has a star where sh may read it as a program or as code and is not used.',
        'Rule 3 of test has a star where sudo may read it as a program or as code and is not used.',
      ],
    });
    // An input that no command could be is the file or the address of another tool.
    for (const input of ['https://example.org/?a=*', '/demo/[id]/*', '/opt/node/*'])
      expect(readRules([{ decision: 'allow', tool: '*', input }], 'test').problems).toEqual([]);
  });

  test('is no rule for a program where it names a folder for several tools', () => {
    for (const name of ['*', 'B*']) {
      expect(allows('/demo/src/*', bash('/demo/src/evil.sh'), name)).toBe(false);
      expect(allows('/demo/src/* *', bash('/demo/src/evil.sh x'), name)).toBe(false);
      expect(allows('CI=1 src/*', bash('CI=1 src/evil.sh'), name)).toBe(false);
      expect(allows('cat src/*', bash('cat src/a.ts'), name)).toBe(true);
    }
    expect(allows('/demo/src/*', tool('Read', { file_path: 'src/a.ts' }), '*')).toBe(true);
    expect(allows('/demo/src/*', bash('/demo/src/build.sh'))).toBe(true);
  });

  test('denies as before', () => {
    expect(decision(bash('sudo rm x'), { decision: 'deny', tool: 'Bash', input: 'sudo *' })).toBe('deny');
  });
});

describe('a rule with a star whose program is not its first word', () => {
  test.each([
    '>/dev/null cd sub && cat *',
    '>/dev/null pushd sub && rm -r *',
    '2>/dev/null env *',
    'npm test; 2>&1 cat *',
    '> log *',
    '< a > log cat *',
    'A=b > log env *',
    'if true; then *; fi',
    'if cd sub; then npm test; else cat *; fi',
    'if npm test; then ls; elif env x; then cat *; fi',
    'while true; do bash *; break; done',
    'until npm test *; do sleep 1; done',
    'for one in a b; do cat *; done',
    'select one in a b; do cat *; done',
    'coproc env *',
    'function cat; ls *',
    'npm test *; case x in y',
    'repeat 2 bash *',
    'noglob bash *',
    // To dash, what follows the file is a command of its own.
    'true &> log *',
  ])('is not used: %s', (input) => {
    const { rules, problems } = readRules([{ decision: 'allow', tool: 'Bash', input }], 'test');
    expect(rules).toEqual([]);
    expect(problems).toEqual([
      'Rule 1 of test combines a star in its "input" with something that only a shell understands and is not used.',
    ]);
  });

  test('is used where it has no star, or its redirection follows a word', () => {
    expect(allows('>log npm test', bash('>log npm test'))).toBe(true);
    expect(allows('>log npm test', bash('> log "npm" test'))).toBe(true);
    expect(allows('if true; then grep "a*" x; fi', bash('if true; then grep "a*" x; fi'))).toBe(true);
    expect(allows('npm test > log *', bash('npm test > log src'))).toBe(true);
    expect(allows('npm test * &> log', bash('npm test src &> log'))).toBe(true);
    expect(allows('A=b npm test > log *', bash('A=b npm test > log src'))).toBe(true);
    expect(allows('npm test * > out/* 2>&1', bash('npm test src > out/log 2>&1'))).toBe(true);
  });

  test('allows no command whose first word is a keyword', () => {
    expect(allows('* --version', bash('coproc --version'))).toBe(false);
  });
});

describe('a tool with arguments of its own', () => {
  const read = (file_path: string, more: object = {}): HookTool => tool('Read', { file_path, ...more });

  test('is compared by the argument that counts, not by a decoy', () => {
    expect(allows('/demo/src/*', read('/demo/src/a.ts'), 'Read')).toBe(true);
    expect(allows('src/*', read('/demo/src/a.ts', { limit: 9 }), 'Read')).toBe(true);
    expect(allows('/demo/src/*', read('/etc/passwd', { command: '/demo/src/a' }), 'Read')).toBe(false);
    expect(allows('npm test*', tool('Bash', { command: 'npm test', path: 'x' }))).toBe(false);
  });

  test.each(['dangerouslyDisableSandbox', 'run_in_background', 'workdir', 'anything'])(
    'is not allowed with the argument %s, whatever it says',
    (name) => {
      for (const value of [true, false, null, 'x']) {
        const given = tool('Bash', { command: 'npm test', [name]: value });
        expect(allows('npm test', given)).toBe(false);
        expect(decision(given, { decision: 'allow', tool: 'Bash' })).toBeNull();
      }
    },
  );

  test('stays in the named folder, and out of what is hidden there', () => {
    const rule = '/home/ada/project/*';
    expect(allows(rule, read('/home/ada/project/src/a.ts'), 'Read')).toBe(true);
    for (const path of ['../.ssh/config', '..', '.', '.git/config', 'src/.env', 'src/../.env'])
      expect(allows(rule, read(`/home/ada/project/${path}`), 'Read'), path).toBe(false);
    // Claude Code drops blanks around a path, and composes its letters.
    for (const path of [' /etc/passwd', '\u00a0/etc/passwd', '~/x', '/demo/e\u0301/x'])
      expect(allows('/demo/*', read(path), 'Read'), path).toBe(false);
    expect(allows('/home/ada/project/.git/*', read('/home/ada/project/.git/HEAD'), 'Read')).toBe(true);
  });

  test('that fetches an address is allowed the host that is named', () => {
    const fetch = (url: string): HookTool => tool('WebFetch', { url, prompt: 'p' });
    const rule = 'https://example.org/docs/*';
    expect(allows(rule, fetch('https://example.org/docs/a?b=c'), 'WebFetch')).toBe(true);
    expect(allows('https://example.org*', fetch('https://example.org/x'), 'WebFetch')).toBe(true);
    expect(allows('https://*.example.org/*', fetch('https://a.example.org/x'), 'WebFetch')).toBe(true);
    for (const url of [
      'https://example.org/docs/../x',
      'https://example.org/docs/%2e%2e/x',
      'http://example.org/docs/a',
    ])
      expect(allows(rule, fetch(url), 'WebFetch'), url).toBe(false);
    for (const url of [
      'https://example.org.evil.example/',
      'https://example.org@evil.example/',
      'https://example.orgx',
    ])
      expect(allows('https://example.org*', fetch(url), 'WebFetch'), url).toBe(false);
  });

  test('that Hive does not know is allowed as a whole, and only from its own server', () => {
    const github = { decision: 'allow', tool: 'mcp__github__*' };
    expect(decision(tool('mcp__github__list', { any: 1 }), github)).toBe('allow');
    expect(decision(tool('mcp__github__evil__list', {}), github)).toBeNull();
    expect(decision(tool('mcp__github___list', {}), github)).toBeNull();
    for (const named of ['mcp__github___list', '*'])
      expect(decision(tool('mcp__github___list', {}), { ...github, tool: named })).toBe('allow');
    expect(decision(tool('mcp__other__list', {}), github)).toBeNull();
  });

  test('on a machine whose files cannot be read is allowed nothing that a star matches', () => {
    const rule = (input: string) => readRules([{ decision: 'allow', tool: 'Bash', input }], 'test').rules;
    expect(rulesForTool(rule('npm test *'), bash('npm test x'), NOWHERE)).toEqual([]);
    expect(rulesForTool(rule('npm test x'), bash('npm test x'), NOWHERE)).toHaveLength(1);
  });

  test('in the root directory is allowed nothing that a star matches', () => {
    const { rules } = readRules([{ decision: 'allow', tool: 'Bash', input: 'cat *' }], 'test');
    const root: Place = { cwd: '/', resolve: (path) => posix.resolve('/', path) };
    expect(rulesForTool(rules, bash('cat etc/passwd'), root)).toEqual([]);
    expect(rulesForTool(rules, bash('cat src/a.ts'), PLACE)).toHaveLength(1);
  });
});

describe('an agent of another machine', () => {
  const far = { ...SESSION, machine: 'token:ci-1' };
  const decide = (rule: object, session = far): string | null =>
    decidingRule(
      rulesForTool(readRules([{ tool: 'Bash', ...rule }], 'test').rules, bash('ls'), PLACE),
      session,
      NOW,
    )?.decision ?? null;

  test('is allowed only what names its machine, and denied what is denied anywhere', () => {
    expect(decide({ decision: 'allow' })).toBeNull();
    expect(decide({ decision: 'allow', machine: 'token:ci-*' })).toBe('allow');
    expect(decide({ decision: 'allow', machine: 'token:other' })).toBeNull();
    expect(decide({ decision: 'deny' })).toBe('deny');
    expect(decide({ decision: 'deny', machine: 'token:other' })).toBeNull();
  });

  test('has rules that do not apply to an agent of this machine, even one with that name', () => {
    expect(decide({ decision: 'allow', machine: '*' }, SESSION)).toBeNull();
  });
});

describe('a rule with an end', () => {
  const ends = { decision: 'allow', tool: 'Bash', expires: '2026-11-24' };
  const at = (now: string): string | null =>
    decidingRule(rulesForTool(readRules([ends], 'test').rules, bash('ls'), PLACE), SESSION, now)?.decision ??
    null;

  test('decides until that day begins, and not from then on', () => {
    expect(at('2026-11-23T23:59:59.999Z')).toBe('allow');
    expect(at('2026-11-24T00:00:00.000Z')).toBeNull();
    expect(at('2027-01-01T00:00:00.000Z')).toBeNull();
  });

  test('is not used if the end is not a date', () => {
    for (const expires of ['tomorrow', '2026-13-01', '2026-11-24T00:00:00Z', '24.11.2026'])
      expect(readRules([{ ...ends, expires }], 'test')).toEqual({
        rules: [],
        problems: ['Rule 1 of test has an "expires" that is not a day such as 2027-03-31 and is not used.'],
      });
  });
});

describe('a rule that denies', () => {
  test('is matched widely, and wins', () => {
    const rules = [
      { decision: 'allow', tool: '*' },
      { decision: 'deny', tool: 'Bash', input: '*rm -rf*' },
      { decision: 'deny', tool: 'Bash', input: 'git push*' },
      { decision: 'deny', tool: 'Read', input: '/home/ada/.ssh/*' },
    ];
    for (const command of [
      'cd x; rm -rf y',
      'rm   -rf y',
      "r'm' -rf y",
      'true && git push',
      'echo `git push`',
    ])
      expect(decision(bash(command), ...rules), command).toBe('deny');
    expect(decision(tool('Read', { file_path: '/home/ada/x/../.ssh/id' }), ...rules)).toBe('deny');
    expect(decision(tool('Bash', { command: ['rm -rf', 'x'] }), ...rules)).toBe('deny');
    expect(decision(bash('ls'), ...rules)).toBe('allow');
    expect(decision(bash('ls'), { decision: 'deny', tool: 'bash' })).toBe('deny');
  });

  test.each([
    'cd sub && git push \\\n  --force origin',
    'cd sub && git pu\\\nsh --force',
    'for one in a b; do git push --force "$one"; done',
    'if git push --force; then true; fi',
    'if true; then git push --force; else true; fi',
    'true || ! git push --force',
    'GIT_TRACE=1 LANG=C git push --force',
    'time git  push --force',
    'GIT_SSH_COMMAND="ssh -i key" git push --force',
    "A='x y' B=\\  git push --force",
    '>/dev/null 2>&1 git push --force',
    'cd sub && time -p git push --force',
    'cd sub && { git push --force; }',
    'command git push --force',
    'sudo env A=b git push --force',
    '/usr/bin/git push --force',
    'cd sub && git push -o "a (b); c" --force',
    "cd sub; git push -o 'a|b' --force 2>&1 | tail",
    'cd sub && git push $(git remote) --force',
    'cd sub && git push `git remote` --force',
    'cd sub && git push origin HEAD@{1} --force',
    '(cd sub && git push -o "a (b)" --force)',
    'git -C . push --force',
    'cd sub && git --no-pager -c a.b=c -C "x y" push --force',
    'sudo /usr/bin/git --git-dir=x push --force',
    'git add . && git push -o "$(cat <<\'E\'\na (b)\nE\n)" --force',
  ])('denies the command wherever it is in a line: %s', (command) =>
    expect(decision(bash(command), { decision: 'deny', tool: 'Bash', input: 'git push *--force*' })).toBe(
      'deny',
    ),
  );

  test('denies a command with the words before its program, too', () => {
    const rule = { decision: 'deny', tool: 'Bash', input: 'sudo git push *--force*' };
    for (const command of ['sudo git push -v --force', 'cd x && sudo git push -o "a (b)" --force'])
      expect(decision(bash(command), rule), command).toBe('deny');
  });

  test('does not put the words of two commands together', () => {
    const rule = { decision: 'deny', tool: 'Bash', input: 'git push *--force*' };
    for (const command of [
      'ls; git push -v && npm ci --force',
      'ls "git push --force"',
      'cd git push --force',
    ])
      expect(decision(bash(command), rule), command).toBeNull();
  });

  test.each<[string, object]>([
    ['Read', { file_path: 'prod' }],
    ['Read', { file_path: ' prod/../prod ' }],
    ['Edit', { file_path: 'a b/../prod', old_string: 'a', new_string: 'b' }],
    ['NotebookEdit', { notebook_path: 'prod', new_source: 'x' }],
    ['apply_patch', { command: '*** Begin Patch\n*** Update File: prod\n@@\n-a\n+b\n*** End Patch' }],
    ['apply_patch', { command: '*** Begin Patch\n*** Delete File: ./x/../prod \n*** End Patch' }],
    ['apply_patch', { command: '*** Begin Patch\n\u00a0*** Delete File: prod\u0085\n*** End Patch' }],
    ['Grep', { pattern: 'x', path: 'prod' }],
    [
      'apply_patch',
      { command: '*** Begin Patch\n*** Update File: x\n*** Move to: prod\n@@\n-a\n+b\n*** End Patch' },
    ],
  ])('denies a file however %s names it: %j', (name, input) => {
    const rules = [
      { decision: 'allow', tool: '*' },
      { decision: 'deny', tool: '*', input: '/demo/prod' },
    ];
    expect(decision(tool(name, { ...input }), ...rules)).toBe('deny');
    expect(decision(bash('echo prod'), ...rules)).toBe('allow');
  });

  test('denies a command that names a file of a rule for all tools', () => {
    const denies = (command: string, name = '*'): boolean =>
      decision(bash(command), { decision: 'deny', tool: name, input: 'prod/*' }) === 'deny';
    for (const command of [
      'cat prod/key',
      'cat src/../prod/key | wc -l',
      "cat 'prod/key'",
      'cat </demo/prod/key',
      'tool --file=prod/key',
    ])
      expect(denies(command), command).toBe(true);
    for (const command of ['echo prod', 'cat src/prod/key', 'cat prod'])
      expect(denies(command), command).toBe(false);
    expect(denies('cat prod/key', 'Read')).toBe(false);
    // Here the input is a command.
    expect(denies('cat prod/key', 'Bash')).toBe(false);
  });

  test('denies a prefix that is written as in Claude Code', () => {
    const rule = { decision: 'deny', tool: 'Bash', input: 'git push:*' };
    expect(['git push', 'cd x && git push origin'].map((command) => decision(bash(command), rule))).toEqual([
      'deny',
      'deny',
    ]);
    expect(decision(bash('git pushy'), rule)).toBeNull();
  });

  test('may give the name of a project; one that allows has to give its directory', () => {
    const demo = (name: string, changes: object): string | null =>
      decision(bash('ls'), { decision: name, tool: '*', ...changes });
    expect(demo('deny', { project: 'demo' })).toBe('deny');
    expect(demo('allow', { project: '/demo' })).toBe('allow');
    expect(demo('allow', { project: '/demo/.git' })).toBe('allow');
    expect(demo('allow', { project: '/elsewhere/demo' })).toBeNull();
    expect(demo('allow', { source: 'bg' })).toBeNull();
  });
});

test('takes time that grows with the length of the command only', () => {
  const rules = readRules(
    [
      { decision: 'deny', tool: 'Bash', input: 'git push *--force*' },
      { decision: 'deny', tool: 'Bash', input: `${'*a'.repeat(30)}*!` },
      { decision: 'deny', tool: '*', input: 'prod/*' },
      { decision: 'allow', tool: 'Bash', input: `x${' *'.repeat(30)}` },
    ],
    'test',
  ).rules;
  // A matcher that tried every way to fill the stars would not end.
  for (const text of ['a ', '-a ', '"a', '\r', '> ', "A='", '$(', './', '/', '\u0085'])
    expect(rulesForTool(rules, bash(`/${text.repeat(100_000)}x`), PLACE)).toBeDefined();
});

test('a rule that is not fully understood is not used, and is reported', () => {
  const given = [
    { tool: 'Bash' },
    { decision: 'allow' },
    { decision: 'allow', tool: 'Bash', command: 'npm test' },
    { decision: 'allow', tool: 'Bash', source: 'everywhere' },
    { decision: 'allow', tool: 'Bash', input: ['npm'] },
    { decision: 'allow', tool: 'Bash', input: ' ' },
    { decision: 'allow', tool: 'Bash', project: 'demo' },
    { decision: 'allow', tool: 'mcp__github__list', input: 'x' },
    { decision: 'deny', tool: 'Bash(git push:*)' },
    'allow',
  ];
  const { rules, problems } = readRules(given, 'trust.json');
  expect(rules).toEqual([]);
  expect(problems).toHaveLength(given.length);
  expect(problems[2]).toBe('Rule 3 of trust.json has an unknown field "command" and is not used.');
  expect(problems[6]).toBe(
    'Rule 7 of trust.json allows something in the project "demo" without its full directory and is not used.',
  );
  expect(problems[8]).toBe(
    'Rule 9 of trust.json has a pattern in its "tool" that belongs in its "input": Bash(git push:*), and is not used.',
  );
  expect(readRules('x', 'f').problems).toEqual(['f contains no list of rules.']);
});
