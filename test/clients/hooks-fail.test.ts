/** Client suite: a person reads in their own client that a hook of Hive has failed, with the prompt that they have typed. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { onTestFinished, test } from 'vitest';
import { startModel } from './support/anthropic.ts';
import { openClaude } from './support/claude-terminal.ts';
import { openCodex } from './support/codex-terminal.ts';
import { startResponses } from './support/responses.ts';
import { openWorld } from './support/world.ts';

test.each([
  ['process', /UserPromptSubmit says: Hive failed on this message[^❯●]*127\.0\.0\.1:1 cannot be reached/],
  // The client itself says this, for its server has not started.
  ['connection', /UserPromptSubmit hook failed\s+MCP server 'hive' not connected/],
] as const)('in Claude Code, where the server is away: hooks by %s', async (way, said) => {
  const { hive: _, ...world } = await openWorld();
  const token_file = join(world.folder, 'token');
  writeFileSync(token_file, 'hive_x\n', { mode: 0o600 });
  const model = await startModel(() => ({ text: 'reply' }));
  const remote = { url: 'http://127.0.0.1:1/mcp', token: 'hive_x', token_file };
  const claude = await openClaude({ ...world, model, way, remote });
  await claude.say('hello');
  await claude.until(said);
});

test('in Codex, where the store is locked', async () => {
  const { hive: _, ...world } = await openWorld();
  const model = await startResponses(() => ({ text: 'reply' }));
  const codex = await openCodex({ ...world, model });
  const lock = new DatabaseSync(world.store);
  onTestFinished(() => lock.close());
  lock.exec('BEGIN IMMEDIATE');
  await codex.say('hello');
  await codex.until(/Hive failed on this message/);
  lock.exec('ROLLBACK');
});
