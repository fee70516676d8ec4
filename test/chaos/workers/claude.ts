/**
 * An agent with hooks, as Claude Code runs them (recorded events of test/wire/fixtures): its turns begin, use tools and
 * stop, each event a separate process; besides, it asks over MCP. It does what its hooks say.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Client } from '../client.ts';
import { attempt, Failure, sleep } from '../failures.ts';
import type { Worker, World } from '../world.ts';
import { createAsker } from './agent.ts';
import { run } from './command.ts';

const RECORDED = join(import.meta.dirname, '../../wire/fixtures/claude-code/posttooluse-stop-batch.jsonl');

type Raw = Readonly<Record<string, unknown>>;

/** The first recorded event of each name. */
export function recordedEvents(): ReadonlyMap<string, Raw> {
  const lines = readFileSync(RECORDED, 'utf8').trim().split('\n');
  const events = lines.flatMap((line): Raw[] => {
    const { stdin } = JSON.parse(line) as { stdin?: Raw };
    return stdin === undefined ? [] : [stdin];
  });
  return new Map(events.toReversed().map((event) => [String(event['hook_event_name']), event]));
}

interface Said {
  continue?: boolean;
  decision?: string;
  reason?: string;
  hookSpecificOutput?: {
    permissionDecision?: string;
    permissionDecisionReason?: string;
    additionalContext?: string;
  };
}

/** How many tools a turn runs at most. */
const TOOLS = 4;
/** One that leads to what clears the mention gate, and is never held. */
const OWN_TOOL = 'mcp__hive__hivemind_get_unprocessed_mentions';

/** Its client: when that dies, the person starts another one, which resumes the session. */
function openHost({ installation }: World): Client & { lives(): number } {
  let client = installation.openClient();
  let lives = 1;
  const living = (): Client => {
    if (!client.alive) {
      client = installation.openClient();
      lives += 1;
    }
    return client;
  };
  return {
    get pid() {
      return living().pid;
    },
    get alive() {
      return client.alive;
    },
    start: (how) => living().start(how),
    die: () => client.die(),
    end: () => client.end(),
    lives: () => lives,
  };
}

export function claude(world: World, name: string, session_id: string): Worker {
  const recorded = recordedEvents();
  // Its hooks and its `hive mcp` descend from one process: nothing else speaks for its session.
  const host = openHost(world);
  const env = {
    CLAUDECODE: '1',
    CLAUDE_CODE_SESSION_ID: session_id,
    get CLAUDE_PID() {
      return String(host.pid);
    },
  };
  const asker = createAsker(world, { name, env, host });
  let lives = host.lives();
  const { log, random, unique } = asker;
  let prompt_id = '';

  /** Fires one event and returns what it said; nothing where it failed open. */
  async function fire(event: string, changes: Raw = {}): Promise<Said> {
    const stdin = {
      ...recorded.get(event),
      hook_event_name: event,
      session_id,
      prompt_id,
      cwd: '/',
      ...changes,
    };
    const act = async (): Promise<Said> => {
      const options = { env, input: JSON.stringify(stdin), host };
      const { code, out, err } = await run(world.installation, name, ['hook'], options);
      if (err !== '')
        log.add({ did: 'failed', what: `hook ${event}`, code: 'said', message: err.slice(0, 300) });
      if (code !== 0 || out === '') return {};
      const said = JSON.parse(out) as Said;
      readContext(`${said.hookSpecificOutput?.additionalContext ?? ''}\n${said.reason ?? ''}`);
      return said;
    };
    const said = await attempt(log, `hook ${event}`, act, { event });
    return said instanceof Failure ? {} : said;
  }

  /** The answers that a hook has carried in. */
  function readContext(context: string): void {
    for (const line of context.split('\n')) {
      const [, ask_id = '', rest = ''] = /(?:Answer to|late answer to|^)\s*(ask-\S+) (.*)/.exec(line) ?? [];
      if (!asker.knows(ask_id)) continue;
      const status = /^\(.*\)(?:, which had been| was) cancelled/.test(rest)
        ? 'cancelled'
        : /^\(.*\)(?:, which had| )\s?expired/.test(rest)
          ? 'expired'
          : 'responded';
      asker.read(ask_id, status, null, rest, 'hook');
    }
  }

  /** Whether the tool ran. */
  async function useTool(tool: string): Promise<boolean> {
    const tool_use_id = `toolu_${unique('tool').replace(/\W/g, '')}`;
    const said = await fire('PreToolUse', { tool_name: tool, tool_input: { command: 'true' }, tool_use_id });
    const held = said.hookSpecificOutput?.permissionDecision === 'deny' && said.continue !== false;
    log.add({ did: 'hooked', tool, held, reason: said.hookSpecificOutput?.permissionDecisionReason ?? '' });
    if (said.continue === false) return false;
    if (held) {
      await asker.process();
      return true;
    }
    const after = await fire('PostToolUse', {
      tool_name: tool,
      tool_input: { command: 'true' },
      tool_response: {},
      tool_use_id,
    });
    return after.continue !== false;
  }

  async function turn(): Promise<void> {
    if (host.lives() > lives) {
      lives = host.lives();
      await fire('SessionStart', { source: 'resume' });
    }
    prompt_id = unique('prompt');
    const begun = await fire('UserPromptSubmit', { prompt: 'go' });
    if (begun.continue === false) return;
    await asker.ask();
    for (let n = random.between(1, TOOLS); n > 0 && world.working; n -= 1) {
      if (!(await useTool(random.chance(0.4) ? OWN_TOOL : 'Bash'))) return;
      if (random.chance(0.4)) await asker.poll(0);
      if (random.chance(0.3)) await asker.post();
      await sleep(random.between(50, 300));
    }
    // Some turns are cut off, as by a key at the terminal.
    if (!random.chance(0.8)) return;
    const held = await fire('Stop');
    // It goes on with the call that it was told to make.
    if (held.hookSpecificOutput?.additionalContext?.includes('hivemind_poll')) await asker.poll(0);
  }

  return {
    name,
    async work() {
      await fire('SessionStart', { source: 'startup' });
      await asker.ask();
      while (world.working) {
        await turn();
        await sleep(random.between(100, 400));
      }
    },
    settle: asker.settle,
    async finish() {
      // A turn that somebody stopped answers no polls; in a new one the agent learns what became of its questions.
      prompt_id = unique('prompt');
      await fire('UserPromptSubmit', { prompt: 'go' });
      // The person at the terminal has mentioned everybody in the meantime, so even the shortest run has something to hold.
      for (const tool of [OWN_TOOL, 'Bash']) await useTool(tool);
      await asker.finish();
    },
    async end() {
      await host.end();
      await asker.end();
    },
  };
}
