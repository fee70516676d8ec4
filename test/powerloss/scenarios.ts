/** Scenarios that are recorded, and the places where a cut is looked at. Each does something else to the disk. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { recordedEvents } from '../chaos/workers/claude.ts';
import { type Call, callsIn } from './disk.ts';
import type { World } from './world.ts';

export interface Scenario {
  name: string;
  /** Before the recording: what is on the disk already. */
  before?: (world: World) => Promise<void>;
  act: (world: World) => Promise<void>;
  /** Near which calls to cut; default: everywhere. */
  near?: (calls: readonly Call[]) => ReadonlySet<number>;
  /** Its share of the states. */
  weight: number;
}

const ROOT = join(import.meta.dirname, '../..');
const DAY_MS = 24 * 3_600_000;
/** Larger than a usual question, so that a few fill the log. */
const LONG_CONTEXT = 'A line of a long log that an agent shows with its question. '.repeat(400);

async function liftQuotas(world: World): Promise<void> {
  await world.hive(['config', 'quotas', 'no']);
}

async function asked(
  world: World,
  agent: ReturnType<World['agent']>,
  question: string,
  more: Record<string, unknown> = {},
): Promise<string> {
  const { ask_id } = await agent.call('hivemind_ask_async', { question, ...more });
  world.tell({ did: 'asked', ask_id: String(ask_id), question });
  return String(ask_id);
}

async function answered(
  world: World,
  desk: Awaited<ReturnType<World['desk']>>,
  ask_id: string,
  decision: string,
): Promise<void> {
  world.tell({ did: 'tried', text: decision });
  const { accepted } = await desk.request('hivemind-response', {
    ask_id,
    decision,
    by: 'Ada',
    response_id: `r-${decision}`,
  });
  if (accepted === true) world.tell({ did: 'answered', ask_id, decision });
}

const create: Scenario = {
  name: 'create',
  weight: 2,
  async act(world) {
    await Promise.all([world.hive(['status']), world.hive(['list'])]);
    world.tell({ did: 'made' });
    const question = 'The first question?';
    const out = await world.hive(['ask', question, '--json', '--key', 'first']);
    const { ask_id } = JSON.parse(out) as { ask_id: string };
    world.tell({ did: 'asked', ask_id, question }, ask_id);
  },
};

export const steady: Scenario = {
  name: 'steady',
  weight: 6,
  before: liftQuotas,
  async act(world) {
    const follower = await world.follow();
    const [one, two] = [world.agent('one'), world.agent('two')];
    const desk = await world.desk();
    for (let round = 0; round < 8; round += 1) {
      const [first, second] = await Promise.all([
        asked(world, one, `Question ${round} of one?`, { idempotency_key: `key-${round}` }),
        asked(world, two, `Question ${round} of two?`),
      ]);
      await answered(world, desk, first, `Answer ${round} to one`);
      // Asked again under its key: nothing changes, and the id is promised again.
      await asked(world, one, `Question ${round} of one?`, { idempotency_key: `key-${round}` });
      await one.call('hivemind_poll', { ask_ids: [first] });
      await follower.shows('prompt/handed', first);
      await answered(world, desk, first, `Answer ${round} to one`);
      const { message } = await desk.request('message/post', {
        body: `Message ${round}`,
        by: 'Ada',
        message_id: `msg-of-round-${round}`,
      });
      world.tell({ did: 'posted', message_id: message.message_id });
      if (round % 2 === 0) {
        await desk.request('prompt/cancel', { ask_id: second, by: 'Ada' });
        world.tell({ did: 'cancelled', ask_id: second });
      }
      await two.call('hivemind_poll', {});
    }
    await Promise.all([one.end(), two.end(), desk.end()]);
    await follower.stop();
  },
};

/** Around the copies of the log into the file, and around the first writes of a new log. */
function aroundCheckpoints(calls: readonly Call[]): ReadonlySet<number> {
  const file = calls.find(({ kind, path }) => kind === 'sync' && path.endsWith('hive.db'))?.file;
  const near = new Set<number>();
  for (const [index, call] of calls.entries())
    if (call.file === file) for (let at = index - 6; at < index + 12; at += 1) near.add(at);
  return near;
}

const checkpoint: Scenario = {
  name: 'checkpoint',
  weight: 2,
  before: liftQuotas,
  async act(world) {
    const [one, two] = [world.agent('one'), world.agent('two')];
    // More than the log takes before it is copied into the file: 4,000 pages.
    const count = 170;
    for (let number = 0; number < count; number += 2)
      await Promise.all(
        [one, two].map((agent, which) =>
          asked(world, agent, `Question ${number + which}?`, { context: LONG_CONTEXT.slice(number) }),
        ),
      );
    await Promise.all([one.end(), two.end()]);
  },
  near: aroundCheckpoints,
};

const hooks: Scenario = {
  name: 'hooks',
  weight: 4,
  before: liftQuotas,
  async act(world) {
    const follower = await world.follow();
    const session_id = 'c1a0de00-0000-4000-8000-000000000001';
    const env = { CLAUDECODE: '1', CLAUDE_CODE_SESSION_ID: session_id };
    const events = recordedEvents();
    const fire = async (name: string, more: Record<string, unknown>): Promise<void> => {
      const event = { ...events.get(name), hook_event_name: name, session_id, cwd: '/', ...more };
      await world.hive(['hook'], { env, input: JSON.stringify(event) });
    };
    const agent = world.agent('', env);
    const desk = await world.desk();
    await fire('SessionStart', { source: 'startup' });
    for (let round = 0; round < 3; round += 1) {
      await fire('UserPromptSubmit', { prompt: 'go', prompt_id: `prompt-${round}` });
      const ask_id = await asked(world, agent, `Question ${round}?`);
      await fire('PreToolUse', {
        tool_name: 'Bash',
        tool_input: { command: 'true' },
        tool_use_id: `tool-${round}`,
      });
      await answered(world, desk, ask_id, `Answer ${round}`);
      await fire('PostToolUse', {
        tool_name: 'Bash',
        tool_input: { command: 'true' },
        tool_response: {},
        tool_use_id: `tool-${round}`,
      });
      await fire('Stop', {});
    }
    await agent.end();
    await desk.end();
    await follower.stop();
  },
};

function prune(): Scenario {
  let old: string[] = [];
  return {
    name: 'prune',
    weight: 2,
    async before(world) {
      old = [];
      await liftQuotas(world);
      world.installation.setClock(-40 * DAY_MS);
      const agent = world.agent('one');
      const desk = await world.desk();
      for (let number = 0; number < 12; number += 1) {
        const question = `Old question ${number}?`;
        const decision = `Old answer ${number}`;
        if (number % 4 === 3) await asked(world, agent, question);
        else {
          const { ask_id } = await agent.call('hivemind_ask_async', { question });
          world.tell({ did: 'tried', text: decision });
          await desk.request('hivemind-response', { ask_id, decision, by: 'Ada', response_id: decision });
          old.push(String(ask_id));
        }
      }
      await Promise.all([agent.end(), desk.end()]);
      world.installation.setClock(0);
    },
    async act(world) {
      const follower = await world.follow();
      await world.hive(['store', 'prune', '--days', '30']);
      world.tell({ did: 'pruned', ask_ids: old });
      const agent = world.agent('late');
      await asked(world, agent, 'After the pruning?');
      await agent.end();
      await follower.stop();
    },
  };
}

const copy: Scenario = {
  name: 'copy',
  weight: 2,
  async before(world) {
    await liftQuotas(world);
    const agent = world.agent('one');
    for (let number = 0; number < 30; number += 1) await asked(world, agent, `Question ${number}?`);
    await agent.end();
  },
  async act(world) {
    await world.hive(['store', 'migrate', '--to', copyOf(world.disk)]);
    world.tell({ did: 'copied' });
    await world.hive(['list'], { env: { HIVE_STORE: copyOf(world.disk) } });
  },
};

/** Where the scenario `copy` copies to. */
export function copyOf(disk: string): string {
  return join(disk, 'elsewhere', 'copy.db');
}

/** Where the scenario `outbox` has its Emacs. */
export function emacsOf(disk: string): string {
  return join(disk, 'emacs');
}

const outbox: Scenario = {
  name: 'outbox',
  weight: 3,
  before: liftQuotas,
  async act(world) {
    const agent = world.agent('one');
    const ids: string[] = [];
    for (let number = 0; number < 6; number += 1) ids.push(await asked(world, agent, `Question ${number}?`));
    await agent.end();
    const decisions = ids.map((_, index) => `Typed answer ${index}`);
    for (const text of decisions) world.tell({ did: 'tried', text });
    const lisp = (text: string): string => JSON.stringify(text);
    const folder = emacsOf(world.disk);
    // One at a time while the sidecar is there; all at once when it comes back.
    const settled =
      "(while (and (hive-sidecar-connected-p) (hive-outbox-entries 'pending)) (accept-process-output nil 0.02))";
    const add = (from: number, to: number): string =>
      ids
        .slice(from, to)
        .map((ask_id, index) => {
          const decision = lisp(decisions[from + index] ?? '');
          return `(hive-outbox-add ${lisp(ask_id)} "hivemind-response" (list :ask_id ${lisp(ask_id)} :decision ${decision} :by "Ada" :response_id ${decision} :store_id (plist-get hive-sidecar-info :store_id)) "") (message "queued %s" ${decision}) ${settled}`;
        })
        .join('\n');
    const wait = (condition: string): string => `(while (not ${condition}) (accept-process-output nil 0.02))`;
    const program = `(progn
      (setq hive-sidecar-command (list ${[process.execPath, world.program, 'sidecar'].map(lisp).join(' ')})
            hive-outbox-directory ${lisp(`${folder}/hive/outbox/`)}
            hive-outbox-key-file ${lisp(`${folder}/hive-outbox.key`)}
            hive-user-name "Ada")
      (require 'hive-mode)
      (hive-mode 1)
      ${wait('(hive-sidecar-connected-p)')}
      ${add(0, 2)}
      ${wait("(null (hive-outbox-entries 'pending))")}
      (hive-sidecar-stop)
      ${add(2, 5)}
      (hive-sidecar-start)
      ${wait('(hive-sidecar-connected-p)')}
      ${add(5, 6)}
      ${wait("(null (hive-outbox-entries 'pending))")}
      (hive-mode -1))`;
    await world.run('emacs', ['-Q', '--batch', '-L', join(ROOT, 'elisp'), '--eval', program], {
      HOME: folder,
      HIVE_STORE: world.store,
    });
  },
};

/** The contents of a person's files before `hive init`. */
export const SETTINGS = '{\n  "model": "opus"\n}\n';
export const CLAUDE_JSON = '{\n  "numStartups": 3\n}\n';

const init: Scenario = {
  name: 'init',
  weight: 2,
  async before(world) {
    const home = join(world.disk, 'home');
    mkdirSync(join(home, '.claude'), { recursive: true, mode: 0o700 });
    mkdirSync(join(home, '.config/hive'), { recursive: true, mode: 0o700 });
    writeFileSync(join(home, '.claude/settings.json'), SETTINGS);
    writeFileSync(join(home, '.claude.json'), CLAUDE_JSON);
  },
  async act(world) {
    const env = { HOME: join(world.disk, 'home') };
    await world.hive(['init', 'claude', '--hooks', '--yes'], { env });
    world.tell({ did: 'installed' });
    for (const command of [
      ['make', 'default'],
      ['rotate', 'default'],
    ]) {
      const secret = (await world.hive(['token', ...command], { env })).trim();
      world.tell({ did: 'token', secret }, secret);
    }
  },
};

/** Processes that die in the middle of a write; the next one finds what they did, and promises it. */
const killed: Scenario = {
  name: 'killed-then-cut',
  weight: 4,
  async before(world) {
    await world.hive(['status']);
  },
  async act(world) {
    const env = { HIVE_AGENT: 'asker' };
    const argsOf = (number: number): string[] => [
      'ask',
      `Question ${number}?`,
      '--json',
      '--key',
      `key-${number}`,
    ];
    await world.hive(argsOf(-1), { env });
    const from = world.trace().length;
    await world.hive(argsOf(0), { env });
    const calls = callsIn(world.trace().subarray(from)).map(({ kind }) => kind);
    // Up to its output it has written its question; afterwards it only closes the store.
    const spoke = calls.indexOf('say');
    for (let number = Math.max(1, spoke - 20); number <= spoke; number += 1) {
      await world.hive(argsOf(number), { env, kill_after: number });
      const { ask_id } = JSON.parse(await world.hive(argsOf(number), { env })) as { ask_id: string };
      world.tell({ did: 'asked', ask_id, question: `Question ${number}?` }, ask_id);
    }
  },
};

/** Those with few different states first: the others have the rest. */
export const SCENARIOS: readonly Scenario[] = [
  checkpoint,
  prune(),
  copy,
  create,
  outbox,
  hooks,
  init,
  killed,
  steady,
];
