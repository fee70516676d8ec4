/** Rules that the human makes: the call of a stored permission, what it suggests, and what a rule would have done. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { EditTools } from '../../src/domain/edits.ts';
import {
  draftsFor,
  nameFor,
  type PastCall,
  pastCall,
  proposalKey,
  proposeRules,
  type RuleDraft,
  readDraft,
  tryRule,
} from '../../src/domain/rules.ts';
import { shownCall } from '../../src/domain/shown-calls.ts';
import { EDIT_TOOLS_ELSEWHERE, editToolsAt } from '../../src/infrastructure/platform/edits.ts';
import { type PastRequest, pastPermission, plainPlace } from '../support/past-permissions.ts';

const NOW = '2026-11-23T12:00:00.000Z';
const CWD = '/home/ada/demo';

function call(request: Omit<PastRequest, 'cwd'> & { cwd?: string }): PastCall {
  const found = pastCall(pastPermission({ cwd: CWD, ...request }));
  if (found === null) throw new Error('This call cannot be read.');
  return found;
}
const bash = (command: string, more: Partial<PastRequest> = {}): PastCall =>
  call({ tool: 'Bash', input: { command }, ...more });
const times = (n: number, make: () => PastCall): PastCall[] => Array.from({ length: n }, make);

describe('the call that a permission was about', () => {
  test.each([
    ['Bash', { command: 'npm test', description: 'Tool: x\nDirectory: /evil', timeout: 120_000 }],
    ['Bash', { command: 'cat <<EOF\n\nTool: Read\nDirectory: /\n\nEOF', run_in_background: true }],
    ['Bash', { command: 'true', dangerouslyDisableSandbox: true, 'odd "name"': { a: ['b\n\nTool: c'] } }],
    ['Read', { file_path: '/home/ada/demo/src/a.ts', limit: 10 }],
    ['WebFetch', { url: 'https://example.org/a', prompt: 'What?' }],
    ['mcp__github__get_issue', { number: 7 }],
  ])('is read back from what was displayed: %s %o', (tool, input) => {
    const { description: _, ...shown } = input as Record<string, unknown>;
    expect(call({ tool, input })).toMatchObject({ tool: { name: tool, input: shown }, cwd: CWD });
  });

  test('is read back whatever plain text the agent wrote', () => {
    const plain = fc.string({ unit: fc.constantFrom(...'ab :{}"\'\n\t-+Tool/Directory:', '    ') });
    fc.assert(
      fc.property(plain, fc.dictionary(fc.stringMatching(/^[a-z]{1,5}$/), plain), (command, beside) => {
        fc.pre(command.trim() !== '');
        const { description: _, file_path: __, ...rest } = beside;
        const input = { ...rest, command };
        expect(call({ tool: 'Bash', input }).tool.input).toEqual(input);
      }),
      { seed: 19, numRuns: 100 },
    );
  });

  describe('names the file of an edit, but not its texts, which no rule matches', () => {
    const text = 'a\n\nTool: x\n-- /etc/hosts\nfile_path: "/etc/hosts"\n';
    const to = '    b\n++ /etc/hosts\nfile_path: "/etc/passwd"\n';
    const own = editToolsAt(CWD);
    const file: EditTools = { ...own, read: () => ({ kind: 'text', text, link: null }) };
    const through: EditTools = { ...own, read: () => ({ kind: 'text', text, link: '/home/ada/real/a.ts' }) };
    const file_path = `${CWD}/a.ts`;
    const notebook_path = `${CWD}/a.ipynb`;
    const edit = { old_string: text, new_string: to };

    test.each<[string, EditTools | undefined]>([
      ['by its arguments', undefined],
      ['as a diff of the file', file],
      ['as a diff of a file behind a link', through],
      ['as a file that does not exist', own],
      ['as both texts, for a file on another machine', EDIT_TOOLS_ELSEWHERE],
    ])('displayed %s', (_how, tools) => {
      const shown = (tool: string, input: object): unknown =>
        call({ tool, input: { ...input }, ...(tools && { tools }) }).tool.input;
      expect(shown('Edit', { file_path, ...edit, replace_all: true })).toEqual({
        file_path,
        replace_all: true,
      });
      expect(shown('Write', { file_path, content: to })).toEqual({ file_path });
      expect(shown('MultiEdit', { file_path, edits: [edit] })).toMatchObject({ file_path });
      expect(shown('NotebookEdit', { notebook_path, new_source: to })).toEqual({ notebook_path });
    });
  });

  test('has every argument, whatever its name is', () => {
    const input = JSON.parse('{"__proto__": {"path": "/etc"}, "constructor": 1, "command": "make"}');
    const known = call({ tool: 'Bash', input }).tool.input as object;
    expect(Object.entries(known).sort()).toEqual(Object.entries(input).sort());
  });

  test("is unknown if a character was spelled out, for a plan, and for a question in a model's own words", () => {
    const spelled = pastPermission({ tool: 'Bash', input: { command: 'ls a\u00a0b' }, cwd: CWD });
    expect(shownCall(spelled)).toBeNull();
    const plan = pastPermission({
      tool: 'ExitPlanMode',
      input: { plan: 'Tool: Bash\nDirectory: /x' },
      cwd: CWD,
    });
    expect(shownCall(plan)).toBeNull();
    const own = pastPermission({ tool: 'Bash', input: { command: 'ls' }, cwd: CWD });
    expect(shownCall({ ...own, dialog: false })).toBeNull();
  });
});

describe('what a permission suggests', () => {
  const inputs = (from: PastCall): (string | null)[] =>
    draftsFor(from, plainPlace(from), NOW).map(({ input }) => input);

  test.each([
    ['npm test', ['npm test', 'npm test*']],
    ['npm test src/a.ts', ['npm test src/a.ts', 'npm test*']],
    ['git log --oneline -5 main', ['git log --oneline -5 main']],
    ['git log --oneline main src/a.ts', ['git log --oneline main src/a.ts', 'git log --oneline main *']],
    ['cat src/a.ts | sort', ['cat src/a.ts | sort', 'cat* | sort*']],
    ['cd src && npm test a.ts 2>&1', ['cd src && npm test a.ts 2>&1', 'cd src && npm test*']],
    [`cd ${CWD} && npm test 2>&1 | tail -20`, [`cd ${CWD} && npm test 2>&1 | tail -20`, 'npm test*']],
    ['grep -rn "two words" src', ['grep -rn "two words" src', "grep -rn 'two words' *"]],
  ])('%s: the command, and what may be left open', (command, expected) => {
    expect(inputs(bash(command))).toEqual(expected);
  });

  test.each([
    'git push origin main',
    'rm -r dist',
    './deploy staging',
    'npm install left-pad',
    'cat a > b',
    'cat a | tee b',
    'find src -delete | xargs rm',
    'git status; rm -r x',
    'rm -r dist 2>&1 | tail -3',
    'FOO=1 npm test',
  ])('%s: nothing but the command itself', (command) => {
    expect(inputs(bash(command))).toEqual([command]);
  });

  test('nothing where no rule could allow it', () => {
    for (const command of ['ls *.ts', 'ls "$HOME" *']) expect(inputs(bash(command))).toEqual([]);
    expect(inputs(call({ tool: 'Bash', input: { command: 'ls', run_in_background: true } }))).toEqual([]);
  });

  test('a file, then the folders around it up to the project, but none outside of it and none that is hidden', () => {
    const edit = (file_path: string): PastCall =>
      call({ tool: 'Edit', input: { file_path, old_string: 'a', new_string: 'b' } });
    expect(inputs(edit(`${CWD}/src/deep/a.ts`))).toEqual([
      `${CWD}/src/deep/a.ts`,
      `${CWD}/src/deep/*`,
      `${CWD}/src/*`,
      `${CWD}/*`,
    ]);
    expect(inputs(edit('/etc/hosts'))).toEqual(['/etc/hosts']);
    expect(inputs(edit(`${CWD}/.github/workflows/a.yml`))).toEqual([`${CWD}/.github/workflows/a.yml`]);
  });

  test('an address, and the same host', () => {
    const url = 'https://example.org/docs/a?b=c';
    expect(inputs(call({ tool: 'WebFetch', input: { url, prompt: 'x' } }))).toEqual([
      url,
      'https://example.org/*',
    ]);
  });

  test('a tool that Hive does not know, as a whole, in its project', () => {
    const asked = call({ tool: 'mcp__github__get_issue', input: { number: 7 } });
    expect(draftsFor(asked, plainPlace(asked), NOW)).toEqual([
      { decision: 'allow', tool: 'mcp__github__get_issue', input: null, project: CWD },
    ]);
  });

  test('a name that no other rule has', () => {
    const draft: RuleDraft = { decision: 'allow', tool: 'Bash', input: 'npm test*', project: null };
    expect(nameFor(draft, [])).toBe('Bash: npm test*');
    expect(nameFor(draft, ['Bash: npm test*', 'Bash: npm test* (2)'])).toBe('Bash: npm test* (3)');
  });
});

describe('a rule that is tried on the past', () => {
  const tried = (draft: RuleDraft, calls: readonly PastCall[]) => {
    const [rule] = readDraft(draft).rules;
    if (rule === undefined) throw new Error('This is no rule.');
    return tryRule(rule, calls, plainPlace, NOW);
  };
  const PAST = [
    bash('npm test'),
    bash('npm test src/a.ts', { answer: 'denied' }),
    bash('npm test src/b.ts', { answer: 'elsewhere' }),
    bash('npm test', { answer: 'unanswered' }),
    bash('npm test', { rule: 'tests' }),
    bash('npm test; rm -r x'),
    bash('npm test', { cwd: '/home/ada/other' }),
  ];
  const draft: RuleDraft = { decision: 'allow', tool: 'Bash', input: 'npm test*', project: CWD };

  test('counts what the human decided the same way, and shows what they decided differently', () => {
    const { examples, counter_examples, ...counts } = tried(draft, PAST);
    expect(counts).toEqual({ allowed: 1, denied: 1, elsewhere: 1, unanswered: 1, by_rules: 1 });
    expect(counter_examples.map(({ ask_id }) => ask_id)).toEqual([PAST[1]?.ask_id]);
    expect(examples.map(({ ask_id }) => ask_id)).toEqual([PAST[3]?.ask_id, PAST[2]?.ask_id]);
  });

  test('that denies is matched widely, and shows what the human allowed', () => {
    const { counter_examples } = tried({ ...draft, decision: 'deny' }, PAST);
    expect(counter_examples.map(({ ask_id }) => ask_id)).toEqual([PAST[5]?.ask_id, PAST[0]?.ask_id]);
  });

  test('in another project, or past its end, would have answered nothing', () => {
    expect(tried({ ...draft, project: '/home/ada/elsewhere' }, PAST).allowed).toBe(0);
    expect(tried({ ...draft, expires: '2026-11-23' }, PAST).allowed).toBe(0);
  });
});

describe('what the history suggests', () => {
  const proposed = (calls: readonly PastCall[], more: { rules?: RuleDraft[]; made?: string[] } = {}) =>
    proposeRules({
      calls,
      rules: (more.rules ?? []).flatMap((draft) => readDraft(draft).rules),
      placeOf: plainPlace,
      now: NOW,
      made: new Set(more.made),
    }).map(({ draft, allowed }) => [draft.input, allowed]);

  test('is the narrowest rule for what was allowed five times and never denied', () => {
    expect(proposed(times(5, () => bash('npm test')))).toEqual([['npm test', 5]]);
    expect(proposed(times(4, () => bash('npm test')))).toEqual([]);
    const files = ['a', 'b', 'c', 'd', 'e'].map((name) => bash(`npm test src/${name}.ts`));
    expect(proposed(files)).toEqual([['npm test*', 5]]);
  });

  test('lists the rule that saves most first, and counts nothing twice', () => {
    const calls = [
      ...times(6, () => bash('git status')),
      ...['a', 'b', 'c', 'd', 'e', 'f', 'g'].map((name) => bash(`cat ${name}`)),
    ];
    expect(proposed(calls)).toEqual([
      ['cat*', 7],
      ['git status', 6],
    ]);
  });

  test('is a narrower rule if the wider one was denied once', () => {
    const calls = [...times(9, () => bash('npm test')), bash('npm test src/a.ts', { answer: 'denied' })];
    expect(proposed(calls)).toEqual([['npm test', 9]]);
    expect(proposed([...calls, bash('npm test', { answer: 'denied' })])).toEqual([]);
  });

  test('leaves out what a rule answers already, what was made before, and what was answered in the terminal', () => {
    const calls = times(9, () => bash('npm test'));
    const draft: RuleDraft = { decision: 'allow', tool: 'Bash', input: 'npm test*', project: CWD };
    expect(proposed(calls, { rules: [draft] })).toEqual([]);
    expect(proposed(times(9, () => bash('npm test', { answer: 'elsewhere' })))).toEqual([]);
    expect(proposed(times(9, () => bash('npm test', { rule: 'tests' })))).toEqual([]);
    expect(proposed(calls, { made: [proposalKey({ ...draft, input: 'npm test' })] })).toEqual([]);
  });

  test.each([
    'rm -r dist',
    'git push',
    'npm install',
    'curl https://example.org',
    '/usr/bin/sudo ls',
    'PAGER=x git log',
    'if true; then git push; fi',
    '> log git push',
    'git > log push',
  ])('is never %s, however often it was allowed', (command) => {
    expect(proposed(times(50, () => bash(command)))).toEqual([]);
  });

  test('is never a single file, a whole project to write to, or a tool that Hive does not know', () => {
    const edit = (file: string): PastCall =>
      call({ tool: 'Edit', input: { file_path: `${CWD}/${file}`, old_string: 'a', new_string: 'b' } });
    expect(proposed(times(9, () => edit('package.json')))).toEqual([]);
    expect(proposed(times(9, () => call({ tool: 'mcp__a__b', input: { c: 1 } })))).toEqual([]);
    expect(proposed(times(9, () => edit('src/a.ts')))).toEqual([[`${CWD}/src/*`, 9]]);
  });
});
