/** The command line: parses and dispatches; each command is a file of its own, loaded when it is called. */
import './stdout-is-the-wire.ts';
import { Command, Option } from 'commander';
import type { Role } from '../adapters/mcp/server.ts';
import { HiveError } from '../domain/errors.ts';
import type { Source } from '../domain/prompts.ts';
import { VERSION } from '../version.ts';

const program = new Command('hive').description('Human in the loop for coding agents.').version(VERSION);

program
  .command('sidecar')
  .description('Serve an Emacs over JSON-RPC on stdio (started by hive-mode)')
  .action(async () => (await import('./sidecar.ts')).runSidecar());

program
  .command('mcp')
  .description('Serve an agent over MCP on stdio')
  .addOption(
    new Option('--role <role>', 'what the agent may do').choices(['agent', 'coordinator']).default('agent'),
  )
  .addOption(new Option('--source <source>', 'where the agent runs').choices(['main', 'bg', 'fork']))
  .action(async ({ role, source }: { role: Role; source?: Source }) =>
    (await import('./mcp.ts')).runMcp({ role, source: source ?? null }),
  );

try {
  await program.parseAsync();
} catch (error) {
  if (!(error instanceof HiveError)) throw error;
  process.stderr.write(`hive: ${error.message}\n`);
  process.exitCode = 1;
}
