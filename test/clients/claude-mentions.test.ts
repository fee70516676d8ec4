/** Client suite 2: a mention arrives while the real Claude Code runs. */
import { describe, expect, test } from 'vitest';
import { openHive } from '../../src/open-hive.ts';
import { introduce } from '../support/hive.ts';
import { tempFolder, tempStore } from '../support/temp.ts';
import { startModel } from './support/anthropic.ts';
import { runClaude } from './support/claude.ts';
import { installClients } from './support/install.ts';

const clients = installClients();
const bash = (command: string): { name: string; input: unknown } => ({
  name: 'Bash',
  input: { command, description: 'work' },
});

describe.skipIf(clients === null)('a mention that arrives during a run of Claude Code', () => {
  test('denies the next Bash with its text, until the model has processed it', async () => {
    if (clients === null) return;
    const store = tempStore();
    const hive = await openHive({ store });
    const told: string[] = [];
    const model = await startModel(async (_request, step) => {
      told.push(model.told());
      switch (step) {
        case 1:
          return { calls: [{ name: 'mcp__hive__hivemind_status', input: {} }] };
        case 2: {
          const [claude] = await hive.sessions.list({ state: 'alive' });
          const { session_id, handle, project, project_dir } = await introduce(hive, 'other-1');
          const author = { kind: 'agent' as const, session_id, handle, project, project_dir, via: 'mcp' as const };
          await hive.messages.post({ body: `Please review auth @${claude?.handle}`, scope: 'all', author });
          return { calls: [bash('echo first'), bash('echo second')] };
        }
        case 3:
          return { calls: [{ name: 'mcp__hive__hivemind_process_mentions', input: { all: true } }] };
        case 4:
          return { calls: [bash('echo third')] };
        default:
          return { text: 'done' };
      }
    });
    await runClaude({ clients, store, folder: tempFolder(), model: model.url }, 'go');
    expect(told[2]?.match(/Please review auth/g)).toHaveLength(2);
    expect(told[2]).toContain('hivemind_process_mentions');
    expect(told[2]).not.toContain('first');
    expect(told[4]).toContain('third');
    expect(told[4]).toContain('tool calls pass again');
    await hive.close();
  });
});
