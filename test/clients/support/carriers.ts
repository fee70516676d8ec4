/**
 * The words that a client writes around a text before its model reads it, for each thing that can carry one: recorded from what
 * the real clients send to a scripted model. Hooks and a server that say only the name of their carrier take the place of
 * Hive's, so that nothing but the client is measured.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { outputOf, spawnChild } from '../../support/children.ts';
import { bash, type ModelRequest, startModel, type ToolUse } from './anthropic.ts';
import { claudeEnvironment } from './claude.ts';
import { startTerminal } from './claude-terminal.ts';
import { codexHome, runCodex } from './codex.ts';
import { type FunctionCall, shell, startResponses } from './responses.ts';
import { openWorld } from './world.ts';

/** The text that the model reads, by the name of the carrier. The text itself is `TEXT`; before it is the role of its message. */
export type Carriers = Record<string, string>;

const HOOK = join(import.meta.dirname, 'carrying-hook.mjs');
const SERVER = join(import.meta.dirname, 'carrying-server.mjs');
/** So soon does Claude Code move a call to the background here. */
const BACKGROUND_MS = 1_500;

function hookOf(folder: string, ...more: string[]): object {
  const command = [process.execPath, HOOK, folder, ...more].join(' ');
  return { type: 'command', command, timeout: 60 };
}

function hooksFor(folder: string, events: readonly string[]): Record<string, object[]> {
  return Object.fromEntries(events.map((event) => [event, [{ hooks: [hookOf(folder)] }]]));
}

// ---- What was read ----

/** One piece of what a model was sent. */
interface Piece {
  role: string;
  text: string;
}

/** Where a carrier put its name. */
const NAMED = /⟦([^⟧]+)⟧/g;
/** Texts that differ from run to run. */
const VOLATILE: readonly (readonly [RegExp, string])[] = [
  [/<task-id>[^<]*</g, '<task-id>ID<'],
  [/\b(MCP task|as task|task_id) ("?)\w+/g, '$1 $2ID'],
  [/"[^"\n]*carrying-hook\.mjs[^"\n]*"/g, '"COMMAND"'],
  [/hook_run_id="[^"]*"/g, 'hook_run_id="ID"'],
  [/(after )\d+(?:\.\d+)?s\b/g, '$1N s'],
  [/\b(Wall time|Chunk ID): .*/g, '$1: …'],
];

/** The form of each carrier's text among these pieces, the first time. */
function carriersIn(pieces: readonly Piece[]): Carriers {
  const found = new Map<string, string>();
  for (const { role, text } of pieces) {
    for (const [mark, name = ''] of text.matchAll(NAMED)) {
      const key = `${name}, as ${role}`;
      if (!found.has(key)) found.set(key, around(text, mark));
    }
  }
  return Object.fromEntries([...found].sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** The part of a text that belongs to one carrier: all of it if the client wraps it, else its paragraph. */
function around(text: string, mark: string): string {
  const whole = /^\s*</.test(text) ? text : (text.split('\n\n').find((each) => each.includes(mark)) ?? '');
  const named = whole.replaceAll(mark, 'TEXT').trim();
  return VOLATILE.reduce((said, [volatile, name]) => said.replaceAll(volatile, name), named);
}

// ---- Claude Code ----

function claudePieces(requests: readonly ModelRequest[]): Piece[] {
  return requests.flatMap(({ messages }) =>
    messages
      .filter(({ role }) => role !== 'assistant')
      .flatMap(({ role, content }) => piecesOf(role, content)),
  );
}

function piecesOf(role: string, content: unknown): Piece[] {
  if (typeof content === 'string') return [{ role, text: content }];
  if (!Array.isArray(content)) return [];
  return content.flatMap((block: { type?: string; text?: string; content?: unknown }) => {
    if (block.type === 'tool_result') return piecesOf('tool result', block.content);
    return typeof block.text === 'string' ? [{ role, text: block.text }] : [];
  });
}

const say = (carrier: string, until?: string): ToolUse => ({
  name: 'mcp__carrier__say',
  input: { carrier, until },
});

const EVENTS = [
  'SessionStart',
  'UserPromptSubmit',
  'PreToolUse',
  'PermissionRequest',
  'PostToolUse',
  'PostToolUseFailure',
  'SubagentStart',
  'SubagentStop',
  'Stop',
];

type World = Awaited<ReturnType<typeof openWorld>>;

/** Writes the configuration, and gives the arguments that use it. */
function claudeArguments({ folder }: World, hooks: object): string[] {
  const [mcp, settings] = [join(folder, 'mcp.json'), join(folder, 'settings.json')];
  const server = { command: process.execPath, args: [SERVER, folder] };
  writeFileSync(mcp, JSON.stringify({ mcpServers: { carrier: server } }));
  const allow = ['mcp__carrier', 'Bash', 'Read', 'Agent'];
  writeFileSync(settings, JSON.stringify({ hooks, permissions: { allow } }));
  return ['--mcp-config', mcp, '--strict-mcp-config', '--settings', settings];
}

/** A headless run: each hook event, a tool, and a subagent. */
export async function headlessClaude(): Promise<Carriers> {
  const world = await openWorld();
  const { folder } = world;
  const calls: ToolUse[] = [
    bash('echo worked'),
    bash('echo denied'),
    bash('exit 3'),
    bash('echo blocked'),
    { name: 'Read', input: { file_path: join(folder, 'settings.json') } },
    { name: 'Write', input: { file_path: join(folder, 'new.txt'), content: 'new' } },
    say('tool result'),
    { name: 'Agent', input: { description: 'sub', prompt: SUBAGENT, subagent_type: 'general-purpose' } },
  ];
  const model = await startModel(({ messages }) => {
    if (JSON.stringify(messages[0]).includes(SUBAGENT)) return { text: 'done' };
    const call = calls.shift();
    return call === undefined ? { text: 'done' } : { calls: [call] };
  });
  await printed(world, model, EVENTS);
  return carriersIn(claudePieces(model.requests));
}

/** A run that is resumed. */
export async function resumedClaude(): Promise<Carriers> {
  const world = await openWorld();
  const model = await startModel(() => ({ text: 'done' }));
  const session_id = await printed(world, model, ['SessionStart']);
  await printed(world, model, ['SessionStart'], '--resume', session_id);
  return carriersIn(claudePieces(model.requests));
}

/** Runs `claude -p` to its end, and gives the id of its session. */
async function printed(
  world: World,
  model: { url: string },
  events: readonly string[],
  ...how: string[]
): Promise<string> {
  const { clients, folder, store } = world;
  const args = claudeArguments(world, hooksFor(folder, events));
  const env = claudeEnvironment({ clients, folder, store, model, env: { CARRIES_CONTEXT: '1' } });
  const child = spawnChild(clients.claude, ['-p', 'go', '--output-format', 'json', ...args, ...how], env);
  child.process.stdin.end();
  return (JSON.parse(await outputOf(child)) as { session_id: string }).session_id;
}

const SUBAGENT = 'You are the subagent of this recording.';

/** An interactive session: the answer to a dialog, a call in the background, and a waker. */
export async function terminalClaude(): Promise<Carriers> {
  const { hive: _, ...world } = await openWorld();
  const { folder } = world;
  const question = {
    question: 'Which colour?',
    header: 'Colour',
    multiSelect: false,
    options: [
      { label: 'red', description: 'warm' },
      { label: 'blue', description: 'cold' },
    ],
  };
  const model = await startModel((_request, step) => {
    if (step === 1) return { calls: [{ name: 'AskUserQuestion', input: { questions: [question] } }] };
    return step === 2
      ? { calls: [say('result of a call in the background', 'finish')] }
      : { text: `reply ${step}` };
  });
  const hooks = {
    ...hooksFor(folder, ['PermissionRequest']),
    Stop: [{ hooks: [{ ...hookOf(folder, 'wake'), asyncRewake: true }] }],
  };
  const args = claudeArguments({ ...world, hive: _ }, hooks);
  const env = { CLAUDE_CODE_MCP_AUTO_BACKGROUND_MS: String(BACKGROUND_MS) };
  const claude = await startTerminal({ ...world, model, env }, args);
  await claude.until(/❯/, 30_000);
  await claude.say('first words');
  await claude.until(/reply 3/, 60_000);
  mkdirSync(join(folder, 'finish'));
  await claude.until(/reply 4/, 60_000);
  mkdirSync(join(folder, 'wake'));
  await claude.until(/reply 5/, 60_000);
  await claude.close();
  return carriersIn(claudePieces(model.requests));
}

// ---- Codex ----

const CODEX_EVENTS = ['SessionStart', 'UserPromptSubmit', 'PreToolUse', 'PostToolUse', 'Stop'];

/** A headless run of Codex: each hook event, and a tool. */
export async function headlessCodex(): Promise<Carriers> {
  const { hive: _, ...world } = await openWorld();
  const { folder } = world;
  const calls: FunctionCall[] = [
    shell('echo worked'),
    shell('echo denied'),
    shell('echo blocked'),
    { name: 'say', namespace: 'mcp__carrier', arguments: { carrier: 'tool result' } },
  ];
  const model = await startResponses(() => {
    const call = calls.shift();
    return call === undefined ? { text: 'done' } : { calls: [call] };
  });
  mkdirSync(codexHome(world), { recursive: true });
  const hooks = hooksFor(folder, CODEX_EVENTS);
  writeFileSync(join(codexHome(world), 'hooks.json'), JSON.stringify({ hooks }));
  const toml = (value: unknown): string => JSON.stringify(value);
  const server = [
    ['required', 'true'],
    ['command', toml(process.execPath)],
    ['args', toml([SERVER, folder])],
  ];
  await runCodex(
    { ...world, model, bare: true },
    'go',
    server.flatMap(([key, value]) => ['-c', `mcp_servers.carrier.${key}=${value}`]),
  );
  const pieces = model.requests.flatMap(({ input }) =>
    input
      .filter(({ role }) => role !== 'assistant')
      .flatMap((item): Piece[] => {
        const { type, role, content, output } = item;
        if (type === 'function_call_output') return [{ role: 'tool result', text: textOf(output) }];
        return type === 'message' ? piecesOf(role ?? '', content) : [];
      }),
  );
  return carriersIn(pieces);
}

function textOf(output: unknown): string {
  return typeof output === 'string' ? output : JSON.stringify(output);
}
