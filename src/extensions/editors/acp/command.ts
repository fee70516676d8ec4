/** `hive acp`: a proxy between an editor and its ACP agent. The agent's questions are asked at the human's desk as well. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { basename } from 'node:path';
import type { Command } from 'commander';
import type { ServeMcp } from '../../../adapters/mcp/over-http.ts';
import type { Hive } from '../../../application/hive.ts';
import { parseDuration } from '../../../cli/output.ts';
import { thisFile } from '../../../cli/program.ts';
import { HiveError, invalidInput } from '../../../domain/errors.ts';
import { editorSession } from '../../../domain/sessions.ts';
import { randomIds } from '../../../infrastructure/platform/ids.ts';
import { programFile } from '../../../infrastructure/platform/project-path.ts';
import { openHive } from '../../../open-hive.ts';
import { runProxy } from './proxy.ts';
import type { AgentServer } from './server.ts';

interface AcpOptions {
  patience: string;
  mcp: boolean;
}

/** `hive acp`. `serveMcp` serves agents that take MCP only over HTTP. */
export function defineAcp(command: Command, serveMcp: ServeMcp): void {
  command
    .argument('[command...]', 'the ACP agent and its arguments, after --')
    .option('--patience <duration>', 'how long a form waits while nobody is at a desk', '60s')
    .option('--no-mcp', 'do not add the MCP server of Hive to the sessions')
    .action((words: string[], options: AcpOptions) => runAcp(words, options, serveMcp));
}

async function runAcp(words: string[], options: AcpOptions, serveMcp: ServeMcp): Promise<void> {
  const [program, ...args] = words;
  if (program === undefined)
    throw invalidInput('Give the command of the agent after --, as in: hive acp -- claude-agent-acp');
  const patience_ms = parseDuration(options.patience);
  const hive = await openHive().catch((error: unknown) => {
    if (!(error instanceof HiveError)) throw error;
    process.stderr.write(
      `hive acp: The agent runs without Hive: ${error.message} Its questions are shown in your editor only.\n`,
    );
    return null;
  });
  const agent = spawn(program, args, {
    stdio: hive === null ? 'inherit' : ['pipe', 'pipe', 'inherit'],
    // So that our hooks in this agent know that an editor shows its dialogs.
    env: { HIVE_EDITOR: 'acp', ...process.env },
  });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => agent.kill(signal));
  const ended = untilEnded(agent, program);
  try {
    if (hive !== null && agent.pid !== undefined)
      await proxy(hive, agent, { program, args, patience_ms, mcp: options.mcp ? serveMcp : null });
    process.exitCode = await ended;
  } finally {
    await hive?.close();
  }
  // The editor may keep our input open.
  process.exit();
}

interface Proxied {
  program: string;
  args: readonly string[];
  patience_ms: number;
  /** Null: the sessions get no server of Hive. */
  mcp: ServeMcp | null;
}

async function proxy(
  hive: Hive,
  agent: ChildProcess,
  { program, args, patience_ms, mcp }: Proxied,
): Promise<void> {
  const { stdin, stdout } = agent;
  if (stdin === null || stdout === null) return;
  // An agent that is gone leaves a broken pipe; its end is noticed below. The same applies to the editor.
  stdin.on('error', () => undefined);
  process.stdout.on('error', () => agent.kill());
  hive.startExpiry();
  const store = process.env['HIVE_STORE'];
  const agent_pid = agent.pid ?? null;
  let server: Promise<AgentServer> | null = null;
  await runProxy({
    hive,
    client: { input: process.stdin, output: process.stdout },
    agent: {
      input: stdout,
      output: stdin,
      pid: agent_pid,
      command: basename(program),
      program: [programFile(program, process.env) ?? program, ...args],
    },
    name: process.env['HIVE_AGENT'] ?? null,
    makeId: () => randomIds.make('editor'),
    package_session: editorSession(process.env['HIVE_SESSION']),
    mcp:
      mcp === null
        ? null
        : {
            stdio: {
              command: process.execPath,
              args: [thisFile(), 'mcp'],
              env: store === undefined ? {} : { HIVE_STORE: store },
            },
            async http(session_id) {
              server ??= import('./server.ts').then((one) => one.startAgentServer(hive, mcp, agent_pid));
              return (await server).begin(session_id);
            },
          },
    patience_ms,
    onClientGone: () => endSoon(agent),
    remark: (text) => process.stderr.write(`hive acp: ${text}\n`),
  });
  await (server as Promise<AgentServer> | null)?.then((one) => one.close()).catch(() => undefined);
}

/** In ms. An agent should end when its input does; otherwise it is asked to end, and then killed. */
const GRACE_MS = 2_000;

function endSoon(agent: ChildProcess): void {
  setTimeout(() => agent.kill('SIGTERM'), GRACE_MS).unref();
  setTimeout(() => agent.kill('SIGKILL'), 2 * GRACE_MS).unref();
}

/** The exit code of the agent, as a shell would give it. @throws HiveError `invalid_input` if it cannot be started. */
async function untilEnded(agent: ChildProcess, program: string): Promise<number> {
  const failed = new Promise<never>((_, reject) => {
    agent.once('error', ({ message }) =>
      reject(
        invalidInput(`The agent ${program} could not be started (${message}). Check the command after --.`),
      ),
    );
  });
  const [code, signal] = (await Promise.race([once(agent, 'close'), failed])) as [
    number | null,
    NodeJS.Signals | null,
  ];
  return code ?? (signal === 'SIGKILL' ? 137 : 143);
}
