/**
 * The example of docs/notifications.md, as a person would write it into trust.json.
 *
 * @module-tag popup
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { expect, onTestFinished, test } from 'vitest';
import { promptPopup } from '../../src/domain/popups.ts';
import { DEFAULT_PREFERENCES } from '../../src/domain/preferences.ts';
import { runNotifyCommand } from '../../src/infrastructure/desktop/command.ts';
import { ask, openTestHive } from '../support/hive.ts';

const EXAMPLE = join(import.meta.dirname, '../../examples/ntfy.mjs');

async function send(status: number, question: string): Promise<{ ask_id: string; got: unknown[] }> {
  const got: unknown[] = [];
  const server = createServer(async (request, response) => {
    got.push(await json(request));
    response.writeHead(status).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const hive = await openTestHive();
  const prompt = await ask(hive, { question, urgency: 'critical' });
  const authority = { popup_permissions: false, notify_command: null, permission_rules: [] };
  const popup = promptPopup(prompt, { ...DEFAULT_PREFERENCES, ...authority }, false);
  const command = `NTFY_URL=${url} NTFY_TOPIC=mine INBOX_URL=https://hive.example.org/inbox node ${EXAMPLE}`;
  await runNotifyCommand(command, popup, process.env, new AbortController().signal);
  return { ask_id: prompt.ask_id, got };
}

test('a question arrives as a notification with a link to it', async () => {
  const { ask_id, got } = await send(200, 'Ship "it"; $(now)?');
  expect(got).toEqual([
    {
      topic: 'mine',
      title: expect.stringContaining('demo'),
      message: 'Ship "it"; $(now)?',
      priority: 5,
      click: `https://hive.example.org/inbox#/ask/${ask_id}`,
    },
  ]);
});

test('a server that refuses it makes the notification fail', async () => {
  await expect(send(403, 'Go on?')).rejects.toThrow(/ntfy answered 403/);
});
