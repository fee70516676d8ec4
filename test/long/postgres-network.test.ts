/** An agent on another machine than its database, over a link that is slow, and over one that is cut for a while. */
import { expect, onTestFinished, test } from 'vitest';
import { HUMAN, openTestHive } from '../support/hive.ts';
import { connectMcp } from '../support/mcp-client.ts';
import { otherMachine } from '../support/network.ts';
import { startPostgres } from '../support/postgres.ts';
import { tcpProxy } from '../support/tcp-proxy.ts';
import { eventually } from '../support/wait.ts';

test('an agent in a network of its own asks over a slow link, and survives a cut of the link: the answer given in the meantime arrives', {
  timeout: 90_000,
  tags: ['root'],
}, async () => {
  const server = await startPostgres();
  onTestFinished(() => server.stop());
  const machine = otherMachine();
  const door = await tcpProxy(server.port, machine.address);
  const hive = await openTestHive(server.address('network'));
  const agent = await connectMcp({
    store: `postgres://hive@${machine.address}:${door.port}/postgres?schema=network`,
    wrap: machine.wrap,
  });
  door.delay(60);
  const slow = await agent.call('hivemind_ask_async', { question: 'Slowly?' });
  expect((await hive.prompts.get(String(slow['ask_id']))).status).toBe('pending');
  door.delay(0);

  const asked = await agent.call('hivemind_ask_async', { question: 'Through the cut?' });
  const ask_id = String(asked['ask_id']);
  const waiting = agent.call('hivemind_poll', { ask_id, wait_ms: 25_000 });
  await eventually(async () => (await hive.prompts.get(ask_id)).blocked_since !== null);
  machine.cut();
  await hive.prompts.respond({ ask_id, decision: 'yes', actor: HUMAN });
  await expect(agent.call('hivemind_ask_async', { question: 'During the cut?' })).rejects.toThrow(
    /store_unavailable/,
  );
  machine.mend();
  expect(await waiting).toMatchObject({ status: 'responded', decision: 'yes' });
  await agent.call('hivemind_ask_async', { question: 'Afterwards?' });
});
