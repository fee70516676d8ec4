/** Client suite 1: the real Claude Code asks, works on, and the answer arrives. */
import { describe, expect, test } from 'vitest';
import { openHive } from '../../src/open-hive.ts';
import { HUMAN } from '../support/hive.ts';
import { tempFolder, tempStore } from '../support/temp.ts';
import { type ModelRequest, startModel } from './support/anthropic.ts';
import { runClaude } from './support/claude.ts';
import { installClients } from './support/install.ts';

const clients = installClients();

/** The ask_id in what the model was sent last. */
function askIdIn(request: ModelRequest): string {
  return /ask-[0-9a-z]{16}/.exec(JSON.stringify(request.messages))?.[0] ?? 'none';
}

describe.skipIf(clients === null)('Claude Code', () => {
  test('an answer given while the agent works is carried in by the next hook, with no poll', async () => {
    if (clients === null) return;
    const store = tempStore();
    const hive = await openHive({ store });
    const model = await startModel(async (request, step) => {
      if (step === 1)
        return {
          calls: [
            {
              name: 'mcp__hive__hivemind_ask_async',
              input: { question: 'Red or blue?', options: ['red', 'blue'] },
            },
          ],
        };
      if (step === 2) {
        await hive.prompts.respond({ ask_id: askIdIn(request), decision: 'blue', actor: HUMAN });
        return { calls: [{ name: 'Bash', input: { command: 'echo worked on', description: 'work' } }] };
      }
      return { text: 'done' };
    });
    const result = await runClaude({ clients, store, folder: tempFolder(), model: model.url }, 'go');
    expect(result.is_error).toBe(false);
    expect(model.told()).toContain('worked on');
    expect(model.told()).toContain('Answer to ask-');
    expect(model.told()).toContain('blue');
    const [prompt] = (await hive.prompts.list({ limit: 10 })).items;
    expect(prompt?.session_id).toBe(result.session_id);
    expect(prompt?.handed_at).not.toBeNull();
    expect(prompt?.collected_at).not.toBeNull();
    await hive.close();
  });
});
