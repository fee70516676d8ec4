/** The library: its example does what it says, docs/library.md has every call, and every public name says what it is. */
import { copyFileSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type AskRequest, HiveError, openHive } from '../../src/index.ts';
import { type Child, childEnvironment, outputOf, ROOT, spawnChild, spawnHive } from '../support/children.ts';
import { tempFolder, tempStore } from '../support/temp.ts';
import { eventually } from '../support/wait.ts';
import { codeIn, readPage, tableUnder } from './support.ts';

describe('examples/library.mjs', () => {
  /** Where the package is installed, as a person would have it. */
  function installed(): { start: () => Child; env: Record<string, string> } {
    const folder = tempFolder();
    mkdirSync(join(folder, 'node_modules'));
    symlinkSync(ROOT, join(folder, 'node_modules/hive-sidecar'));
    copyFileSync(join(ROOT, 'examples/library.mjs'), join(folder, 'library.mjs'));
    const env = childEnvironment(join(folder, 'state', 'hive.db'));
    return { env, start: () => spawnChild(process.execPath, [join(folder, 'library.mjs'), '1.4.2'], env) };
  }

  /** The id that it prints once it has asked. */
  async function askedBy(child: Child): Promise<string> {
    let said = '';
    child.process.stdout.setEncoding('utf8').on('data', (text: string) => {
      said += text;
    });
    const id = (): string | undefined => /^Asked.*: (ask-\w+)$/m.exec(said)?.[1];
    await eventually(() => id() !== undefined, 15_000, 'its question');
    return id() ?? '';
  }

  test('asks, is killed, is answered meanwhile, and deploys when it is started again', async () => {
    const { start, env } = installed();
    const first = start();
    const ask_id = await askedBy(first);
    await first.kill('SIGKILL');
    await outputOf(spawnHive(['respond', ask_id, 'yes', '--by', 'Ada'], env));
    const said = await outputOf(start());
    expect(said).toBe(`Asked before: ${ask_id}\nDeploying 1.4.2, says Ada.\n`);
  });

  test('does not deploy what was refused', async () => {
    const { start, env } = installed();
    const running = start();
    const said = outputOf(running);
    await outputOf(spawnHive(['respond', await askedBy(running), 'no', '--by', 'Ada'], env));
    expect(await said).toMatch(/\nNot deployed: Ada says no\.\n$/);
  });

  test('stands in docs/library.md as it is', () => {
    const [program] = [...readPage('docs/library.md').matchAll(/^```js\n([\s\S]*?)^```$/gm)].map(
      ([, text]) => text,
    );
    const example = readFileSync(join(ROOT, 'examples/library.mjs'), 'utf8');
    expect(example.slice(example.indexOf('import '))).toBe(program);
  });
});

const ENTRIES = ['src/index.ts', 'src/adapters/agent-sdk/index.ts'];
const read = (file: string): string => readFileSync(join(ROOT, file), 'utf8');

/** What an entry of the package exports: each name, with the file that declares it. */
function exportsOf(entry: string): { name: string; file: string }[] {
  const text = read(entry);
  const passedOn = [...text.matchAll(/^export (?:type )?\{([^}]*)\} from '([^']+)';/gm)].flatMap(
    ([, names = '', from = '']) =>
      names
        .split(',')
        .map((name) => name.trim().replace(/^type /, ''))
        .filter((name) => name !== '')
        .map((name) => ({ name, file: join(dirname(entry), from) })),
  );
  const own = [...text.matchAll(/^export (?:async )?(?:interface|type|function|class|const) (\w+)/gm)];
  return [...passedOn, ...own.map(([, name = '']) => ({ name, file: entry }))];
}

interface Declared {
  documented: boolean;
  /** Of an interface or a class: each member, and whether a comment stands before it. */
  members: { name: string; documented: boolean }[];
  /** What an interface extends. */
  base: string | null;
}

/** What a file says of a name, as Biome formats it: a member begins a line with two spaces, or a comment on it. */
function declarationOf(file: string, name: string): Declared {
  const text = read(file);
  const found = new RegExp(
    `^export (?:async )?(interface|type|function|class|const) ${name}\\b(?: extends (\\w+))?(.*)$`,
    'm',
  ).exec(text);
  if (found === null) throw new Error(`${file} declares no ${name}.`);
  // A remark for the linter may stand between.
  const documented = (at: number): boolean => /\*\/\s*(?:\/\/ biome-ignore .*\s*)?$/.test(text.slice(0, at));
  const members: Declared['members'] = [];
  if ((found[1] === 'interface' || found[1] === 'class') && found[3]?.endsWith('{')) {
    const begin = found.index + found[0].length;
    const body = text.slice(begin, text.indexOf('\n}', begin));
    const pattern = /^ {2}(?:\/\*\*.*\*\/ )?((?:readonly )?(\w+)\??[:(<])/gm;
    for (const { index, 0: line, 1: start = '', 2: member = '' } of body.matchAll(pattern))
      if (member !== 'constructor')
        members.push({ name: member, documented: documented(begin + index + line.indexOf(start)) });
  }
  return { documented: documented(found.index), members, base: found[2] ?? null };
}

/** Where a file has a name from. */
function sourceOf(file: string, name: string): string {
  const imported = new RegExp(`^import [^;]*\\b${name}\\b[^;]* from '(\\./[^']+|\\.\\./[^']+)';`, 'm').exec(
    read(file),
  );
  return imported?.[1] === undefined ? file : join(dirname(file), imported[1]);
}

/** The file that declares a name that another file only passes on, as ports.ts does. */
function declaringFile(file: string, name: string): string {
  if (new RegExp(`^export .*\\b(?:interface|type|class|function) ${name}\\b`, 'm').test(read(file)))
    return file;
  const all = [...read(file).matchAll(/^export type \* from '([^']+)';/gm)].map(([, from = '']) =>
    join(dirname(file), from),
  );
  const found = all.find((one) => new RegExp(`^export (?:interface|type) ${name}\\b`, 'm').test(read(one)));
  return found ?? file;
}

describe('the public names', () => {
  const names = ENTRIES.flatMap(exportsOf).map(({ name, file }) => ({
    name,
    file: declaringFile(file, name),
  }));

  test('are those of package.json, and the walk finds them and their members', () => {
    const { exports } = JSON.parse(read('package.json')) as { exports: Record<string, { types?: string }> };
    const entries = Object.values(exports).flatMap(({ types }) => types ?? []);
    expect(entries.map((path) => path.replace('./dist/types', 'src').replace('.d.ts', '.ts'))).toEqual(
      ENTRIES,
    );
    expect(names.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['openHive', 'HiveLibrary', 'Prompt', 'HiveError', 'AgentHive', 'CanUseTool']),
    );
    const { members } = declarationOf('src/domain/prompts.ts', 'Prompt');
    expect(members.map(({ name }) => name)).toEqual(expect.arrayContaining(['ask_id', 'context', 'carrier']));
  });

  test.each(names)('$name says what it is, and so does each member of it', ({ name, file }) => {
    const own = declarationOf(file, name);
    const from = own.base === null || own.base === 'Error' ? null : sourceOf(file, own.base);
    const base = from === null || own.base === null ? [] : declarationOf(from, own.base).members;
    expect(own.documented, `${name} in ${file}`).toBe(true);
    const silent = [...own.members, ...base].filter(({ documented }) => !documented);
    expect(silent.map((member) => member.name)).toEqual([]);
  });
});

describe('what docs/library.md says of errors', () => {
  /** The codes in the row of a call. */
  function toldOf(call: string): string[] {
    const row = tableUnder('docs/library.md', '## Errors').find(([calls = '']) =>
      codeIn(calls).includes(call),
    );
    return codeIn(row?.[1] ?? '');
  }

  test('is what happens', async () => {
    const store = tempStore();
    const hive = await openHive({ agent: 'deployer', store, env: {} });
    const other = await openHive({ agent: 'reviewer', store, env: {} });
    try {
      const { prompts, turns } = hive;
      const ask = async (more: Partial<AskRequest> = {}): Promise<string> =>
        (await prompts.ask({ question: 'Go on?', options: ['yes', 'no'], ...more })).prompt.ask_id;
      const own = await ask({ idempotency_key: 'once' });
      const permission = (await other.prompts.ask({ question: 'May I?', kind: 'permission' })).prompt.ask_id;
      const theirs = (await other.prompts.ask({ question: 'Which?', options: ['a'], allow_free_text: false }))
        .prompt;
      const refusals: [call: string, code: string, work: () => unknown][] = [
        ['openHive', 'invalid_input', () => openHive({ agent: 'human', store, env: {} })],
        ['ask', 'invalid_input', () => ask({ timeout_ms: 999 })],
        ['ask', 'invalid_input', () => ask({ question: 'x'.repeat(8_001) })],
        ['ask', 'human_not_found', () => ask({ to: 'Nobody' })],
        ['ask', 'idempotency_conflict', () => ask({ idempotency_key: 'once', question: 'Another?' })],
        ['onResponse', 'prompt_not_found', () => prompts.onResponse('ask-none', () => undefined)],
        ['get', 'prompt_not_found', () => prompts.get('ask-none')],
        ['poll', 'prompt_not_found', () => prompts.poll(['ask-none'])],
        ['list', 'invalid_input', () => prompts.list({ cursor: 'none' })],
        ['respond', 'prompt_not_found', () => prompts.respond('ask-none', { decision: 'yes' })],
        ['respond', 'not_allowed', () => prompts.respond(own, { decision: 'yes' })],
        ['respond', 'not_allowed', () => prompts.respond(permission, { decision: 'yes' })],
        ['respond', 'invalid_answer', () => prompts.respond(theirs.ask_id, { decision: 'b' })],
        ['cancel', 'prompt_not_found', () => prompts.cancel('ask-none')],
        ['cancel', 'not_allowed', () => prompts.cancel(theirs.ask_id)],
        ['end', 'turn_not_found', () => turns.end('turn-none')],
        ['interrupt', 'session_not_found', () => turns.interrupt('nobody')],
        ['interrupt', 'no_turn', () => turns.interrupt(other.session.handle)],
        [
          'interrupt',
          'invalid_input',
          () => turns.interrupt(other.session.handle, { timeout_ms: 86_400_001 }),
        ],
        [
          'interrupt',
          'turn_not_current',
          () => turns.interrupt(other.session.handle, { turn_id: 'turn-none' }),
        ],
      ];
      for (const [call, code, work] of refusals) {
        const error = await Promise.resolve(work()).catch((reason: unknown) => reason);
        expect([call, error instanceof HiveError ? error.code : error]).toEqual([call, code]);
        expect(toldOf(call)).toContain(code);
      }
    } finally {
      await hive.close();
      await other.close();
    }
  });
});

test('every call of the library and every field of a question stands in docs/library.md', () => {
  const page = readPage('docs/library.md');
  const membersOf = (file: string, name: string): string[] =>
    declarationOf(file, name).members.map((member) => member.name);
  const calls = [
    ...['HiveLibrary', 'LibraryPrompts', 'LibraryTurns', 'OpenOptions'].flatMap((name) =>
      membersOf('src/index.ts', name),
    ),
    ...membersOf('src/open-hive.ts', 'OpenHiveOptions'),
    ...membersOf('src/domain/prompts.ts', 'AskRequest'),
    ...membersOf('src/domain/prompts.ts', 'AnswerRequest'),
    ...membersOf('src/application/ports/prompts.ts', 'PromptFilter'),
    ...membersOf('src/application/turns.ts', 'ProgramEnd'),
  ];
  expect(calls.length).toBeGreaterThan(50);
  expect(calls.filter((name) => !new RegExp(`\`[^\`]*\\b${name}\\b`).test(page))).toEqual([]);
});
