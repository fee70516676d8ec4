/** A session of Claude Code in its terminal that asks something, and the desk that answers. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { permissionDigest } from '../../../src/domain/permissions.ts';
import type { Prompt } from '../../../src/domain/prompts.ts';
import type { OpenedHive } from '../../../src/open-hive.ts';
import { ROOT } from '../../support/children.ts';
import { openDesk } from '../../support/dialogs.ts';
import { HUMAN } from '../../support/hive.ts';
import { tempFolder } from '../../support/temp.ts';
import { eventually } from '../../support/wait.ts';
import { bash, startModel, type ToolUse } from './anthropic.ts';
import type { ChatTerminal } from './chat-terminal.ts';
import type { ClaudeRun } from './claude.ts';
import { openClaude } from './claude-terminal.ts';
import { openWorld, type World } from './world.ts';

export const COLORS = [
  { label: 'Red', description: 'r' },
  { label: 'Blue', description: 'b' },
];
export const WRITES = bash('echo one > made.txt');
/** An MCP server of somebody else's. */
export const shop = {
  command: process.execPath,
  args: [join(ROOT, 'test/clients/support/eliciting-server.mjs')],
  alwaysLoad: true,
};

interface Run extends World {
  model: Awaited<ReturnType<typeof startModel>>;
  claude: ChatTerminal;
}

type Options = { desk?: boolean; settings?: Readonly<Record<string, unknown>> } & Pick<
  ClaudeRun,
  'servers' | 'allowed'
>;

/** A session in the terminal whose model makes these calls in one step, and has been sent a message. */
export async function run(calls: ToolUse | readonly ToolUse[], options: Options = {}): Promise<Run> {
  const opened = await talk([calls], options);
  await opened.next();
  return opened;
}

/**
 * A session in the terminal. `next` sends it a message, upon which its model makes the next of these calls in one step, and then
 * says that it is all done: `all done 1` after the first message.
 */
export async function talk(
  turns: readonly (ToolUse | readonly ToolUse[])[],
  { desk = true, settings = {}, servers, ...more }: Options = {},
): Promise<Run & { next(): Promise<void> }> {
  const world = await openWorld(settings);
  if (desk) await openDesk(world.hive);
  let begun = 0;
  const model: Promise<Run['model']> = startModel(async () => {
    if (!(await model).told().includes(`please begin ${begun + 1}`)) return { text: `all done ${begun}` };
    begun += 1;
    return { calls: [turns[begun - 1] ?? []].flat() };
  });
  const { hive: _, ...rest } = world;
  const listed = join(tempFolder(), 'listed');
  const env = { TOOLS_LISTED: listed };
  const started = servers && {
    servers: Object.fromEntries(Object.entries(servers).map(([name, server]) => [name, { ...server, env }])),
  };
  const claude = await openClaude({ ...rest, model: await model, allowed: null, ...started, ...more });
  // The client does not wait for its servers, and runs calls of tools that it does not know yet one after the other.
  if (servers !== undefined) await eventually(() => existsSync(listed), 60_000, 'the tools of the server');
  return { ...world, model: await model, claude, next: () => claude.say(`please begin ${begun + 1}`) };
}

export async function asked(hive: OpenedHive, count = 1): Promise<Prompt[]> {
  let prompts: Prompt[] = [];
  const come = eventually(async () => {
    prompts = (await hive.prompts.list({ status: 'pending', limit: 10 })).items;
    return prompts.length === count;
  }, 10_000);
  await come.catch(async (error: Error) => {
    const { items } = await hive.prompts.list({ limit: 10 });
    const all = items.map(({ context, status, cancel_reason }) => ({ context, status, cancel_reason }));
    throw new Error(`${error.message}, which are ${count} prompts of ${JSON.stringify(all)}`);
  });
  return prompts;
}

/** The dialog of a permission in the terminal. */
export const PROCEED = /Do you want to proceed/;

/** Answers at the desk, which has displayed all of it. */
export const answer = (hive: OpenedHive, prompt: Prompt | undefined, given: object) =>
  hive.prompts.respond({
    ask_id: prompt?.ask_id ?? '',
    ...given,
    actor: HUMAN,
    displayed_digest: prompt === undefined ? null : permissionDigest(prompt),
  });
