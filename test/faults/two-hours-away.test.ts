/**
 * A person comes back after two hours: six agents have asked 40 things, as real agents do, and all of them are answered
 * with real keys in a real terminal. Every key is counted.
 *
 * @module-tag as-displayed
 * @module-tag emacs
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import type { Seat } from '../../src/domain/seats.ts';
import type { AskRequest, Prompt } from '../../src/index.ts';
import type { OpenedHive } from '../../src/open-hive.ts';
import { grow } from '../support/ageing.ts';
import { type EmacsTerminal, type EmptyHome, lisp, openEmptyHome } from '../support/emacs.ts';
import { endedProcess } from '../support/ended-process.ts';
import { ask, openTestHive, withoutQuotas } from '../support/hive.ts';
import { fire, recordedEvent, said } from '../support/hooks.ts';
import { eventually } from '../support/wait.ts';

const MOST_KEYS = 50;

const AGENTS = ['api', 'docs', 'frontend', 'reviewer', 'schema', 'tests'] as const;
type Agent = (typeof AGENTS)[number];
/** The process of each agent's client, which has ended. */
const CLIENTS = Object.fromEntries(AGENTS.map((agent) => [agent, endedProcess()]));

const run = (command: string): Call => ({ tool: 'Bash', input: { command } });
interface Call {
  tool: string;
  input: Record<string, string>;
}

/** A question of agents, and the person's answer to it. */
interface Asked {
  agents: readonly Agent[];
  /** As it is on the screen. */
  shown: RegExp;
  answer: { key: string } | { text: string };
  asks: Call | AskRequest;
}

const ALLOW = { key: '1' };
const YES_OR_NO = { options: ['yes', 'no'] };

const EVERYTHING: readonly Asked[] = [
  { agents: AGENTS, shown: /Run npm install\?/, answer: ALLOW, asks: run('npm install') },
  {
    agents: ['api', 'docs', 'frontend', 'schema', 'tests'],
    shown: /Run npm test\?/,
    answer: ALLOW,
    asks: run('npm test'),
  },
  {
    agents: ['api', 'docs', 'frontend', 'tests'],
    shown: /Run git push origin HEAD\?/,
    answer: ALLOW,
    asks: run('git push origin HEAD'),
  },
  {
    agents: ['api', 'docs', 'reviewer'],
    shown: /Fetch https:\/\/docs\.example\.org\/api\?/,
    answer: ALLOW,
    asks: { tool: 'WebFetch', input: { url: 'https://docs.example.org/api', prompt: 'List the routes' } },
  },
  {
    agents: ['api'],
    shown: /Change routes\.ts\?/,
    answer: ALLOW,
    asks: {
      tool: 'Edit',
      input: { file_path: '/home/api/routes.ts', old_string: "get('/a')", new_string: "get('/b')" },
    },
  },
  {
    agents: ['docs'],
    shown: /Write index\.md\?/,
    answer: ALLOW,
    asks: { tool: 'Write', input: { file_path: '/home/docs/index.md', content: '# Index\n\nNothing yet.' } },
  },
  { agents: ['schema'], shown: /Run rm -rf build\?/, answer: { key: '2' }, asks: run('rm -rf build') },
  {
    agents: ['reviewer'],
    shown: /Run git commit -m review\?/,
    answer: ALLOW,
    asks: run('git commit -m review'),
  },
  {
    agents: ['api', 'docs', 'frontend', 'tests'],
    shown: /May I commit\?/,
    answer: { key: '1' },
    asks: { question: 'May I commit?', ...YES_OR_NO },
  },
  {
    agents: ['frontend', 'reviewer'],
    shown: /Which database\?/,
    answer: { key: '2' },
    asks: { question: 'Which database?', options: ['SQLite', 'PostgreSQL'] },
  },
  ...[
    'Drop IE?',
    'Delete the old branch?',
    'Squash?',
    'Is 80% enough?',
    'Bump the version?',
    'Ship today?',
  ].map(
    (question, n): Asked => ({
      agents: [AGENTS[n] ?? 'api'],
      shown: new RegExp(question.replace('?', '\\?')),
      answer: { key: n % 2 === 0 ? '1' : '2' },
      asks: { question, ...YES_OR_NO },
    }),
  ),
  ...['How shall I test it?', 'What next?', 'Where do I begin?'].map(
    (question, n): Asked => ({
      agents: [AGENTS[n] ?? 'api'],
      shown: new RegExp(question.replace('?', '\\?')),
      // The first template.
      answer: { key: '1' },
      asks: { question },
    }),
  ),
  {
    agents: ['schema'],
    shown: /Name of the table\?/,
    answer: { text: 'users' },
    asks: { question: 'Name of the table?' },
  },
  {
    agents: ['tests'],
    shown: /How many workers\?/,
    answer: { text: '4' },
    asks: { question: 'How many workers?' },
  },
  {
    agents: ['docs'],
    shown: /Which licence\?/,
    answer: { text: 'MIT' },
    asks: { question: 'Which licence?' },
  },
];

let home: EmptyHome;
let hive: OpenedHive;
let emacs: EmacsTerminal;

beforeEach(async () => {
  home = await openEmptyHome();
  hive = await withoutQuotas(await openTestHive(home.store));
  reads = join(home.folder, 'reads');
  const read = `(lambda (&rest _) (write-region "." nil ${lisp(reads)} t 0))`;
  emacs = await home.emacs(`(setq hive-undo-seconds 3
    hive-reply-templates '(("question" nil "Look at the tests first."))
    global-map (progn (advice-add 'read-key :before ${read})
      (define-key global-map (kbd "C-c h") 'hive-prefix-map) global-map))`);
  await emacs.said(/Registered this seat/);
});

const pending = async (): Promise<Prompt[]> =>
  (await hive.prompts.list({ status: 'pending', limit: 100 })).items;

/** The seats that the person's file names, of which one is this Emacs. */
function seats(): Seat[] {
  const file = join(home.folder, '.config/hive/trust.json');
  return (JSON.parse(readFileSync(file, 'utf8')) as { seats: Seat[] }).seats;
}

/** The hook of a permission that an agent's client asks; it ends with what the client is told. */
function permission(agent: Agent, { tool, input }: Call): Promise<string> {
  const { permission_suggestions: _, ...event } = recordedEvent(
    'claude-code/PermissionRequest-Bash-addRules.json',
  );
  const call = { tool_name: tool, tool_input: input, cwd: `/home/${agent}`, session_id: agent };
  const env = { CLAUDE_PID: String(CLIENTS[agent]), HIVE_AGENT: agent };
  return fire(hive, { ...event, ...call }, { env, surroundings: { seats } });
}

/** Asks everything; the promises resolve to what the hooks print in the end. */
async function everythingIsAsked(): Promise<Promise<string>[]> {
  const printed: Promise<string>[] = [];
  for (const { agents, asks } of EVERYTHING)
    for (const agent of agents) {
      const before = (await pending()).length;
      if ('tool' in asks) printed.push(permission(agent, asks));
      else await ask(hive, asks, agent);
      await eventually(async () => (await pending()).length > before, 30_000, 'the question');
    }
  return printed;
}

let pressed = 0;
/** It has a character for each time that Emacs has begun to read a key that counts: one that comes too early is ignored. */
let reads: string;
let readBefore = 0;
const readNow = (): number => (existsSync(reads) ? readFileSync(reads, 'utf8').length : 0);

/** Presses keys one by one, and counts them. */
async function press(...keys: readonly string[]): Promise<void> {
  for (const key of keys) {
    await (key.length === 1 ? emacs.type(key) : emacs.keys(key));
    pressed += 1;
  }
}

/** Presses one key once it counts for what is shown. */
async function read(shown: RegExp, key: string): Promise<void> {
  await emacs.until(shown);
  await eventually(() => readNow() > readBefore, undefined, `a key that counts for ${shown}`);
  readBefore = readNow();
  await press(key);
}

async function give({ answer, shown }: Asked): Promise<void> {
  if ('key' in answer) return read(shown, answer.key);
  await read(shown, 'Enter');
  await emacs.until(/asks: /);
  await press(...answer.text, 'Enter');
}

const LAST = /\d+ answered; no other questions/;

/** The question that is shown, and how many follow: what tells one state of `hive-next` from the next. */
async function shownNow(): Promise<{ asked: Asked | undefined; state: string }> {
  let screen = '';
  let asked: Asked | undefined;
  // Emacs may be drawing: then the screen has the keys already, and the question not yet.
  await eventually(
    async () => {
      screen = (await emacs.until(/q quit|no other questions/)).join('\n');
      asked = EVERYTHING.find(({ shown }) => shown.test(screen));
      return asked !== undefined || LAST.test(screen);
    },
    20_000,
    'a question that was asked',
  );
  if (asked === undefined || LAST.test(screen)) return { asked: undefined, state: 'done' };
  return { asked, state: `${asked.shown} ${/\(\d+ more\)/.exec(screen)?.[0] ?? 'last'}` };
}

test('six agents, 40 questions, two hours away: all are answered with at most 50 keys', async () => {
  const printed = await everythingIsAsked();
  expect(await pending()).toHaveLength(40);
  await emacs.until(/hive 22‖18/);
  grow(home.store, 2 / 24);
  // Emacs has the times from before.
  await emacs.evaluate('(progn (hive-model-refresh) (+ 2 40))');
  await emacs.until(/^42 /m);

  await press('C-c', 'h', 'n');
  let now = await shownNow();
  while (now.asked !== undefined) {
    const { asked, state } = now;
    await give(asked);
    await eventually(
      async () => {
        now = await shownNow();
        return now.state !== state;
      },
      20_000,
      `what comes after ${state}`,
    );
  }
  expect(pressed).toBeLessThanOrEqual(MOST_KEYS);

  await eventually(async () => (await pending()).length === 0, 30_000, 'the last answer');
  const printedIn = await Promise.all(printed);
  const decided = (behavior: string) =>
    printedIn.filter((text) => JSON.stringify(said(text)).includes(`"behavior":"${behavior}"`));
  expect([decided('allow').length, decided('deny').length]).toEqual([21, 1]);
});
