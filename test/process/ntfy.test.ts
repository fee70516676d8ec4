/**
 * The example of docs/notifications.md, as a person would write it into trust.json.
 *
 * @module-tag popup
 */
import { createServer } from 'node:http';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import {
  type Popup,
  popupOf,
  type Told,
  tellMention,
  tellOutreach,
  tellPrompt,
} from '../../src/domain/popups.ts';
import { DEFAULT_PREFERENCES } from '../../src/domain/preferences.ts';
import { runNotifyCommand } from '../../src/infrastructure/desktop/command.ts';
import { ask, openTestHive } from '../support/hive.ts';
import { listen } from '../support/listen.ts';
import { post } from '../support/messages.ts';
import { agent } from '../support/outreach.ts';

const EXAMPLE = join(import.meta.dirname, '../../examples/ntfy.mjs');

/** A server of ntfy that answers with this status, and what it got. */
async function startNtfy(status: number): Promise<{ send(popup: Popup): Promise<void>; got: unknown[] }> {
  const got: unknown[] = [];
  const server = createServer(async (request, response) => {
    got.push(await json(request));
    response.writeHead(status).end();
  });
  const url = await listen(server);
  const command = `NTFY_URL=${url} NTFY_TOPIC=mine INBOX_URL=https://hive.example.org/inbox node ${EXAMPLE}`;
  return {
    got,
    send: (popup) => runNotifyCommand(command, popup, process.env, new AbortController().signal),
  };
}

const PREFERENCES = {
  ...DEFAULT_PREFERENCES,
  popup_permissions: false,
  notify_command: null,
  permission_rules: [],
};

test('a question arrives as a notification with a link to it', async () => {
  const hive = await openTestHive();
  const prompt = await ask(hive, { question: 'Ship "it"; $(now)?', urgency: 'critical' });
  const { send, got } = await startNtfy(200);
  await send(popupOf('prompt', [tellPrompt(prompt, PREFERENCES)], PREFERENCES));
  expect(got).toEqual([
    {
      topic: 'mine',
      title: expect.stringContaining('demo'),
      message: 'Ship "it"; $(now)?',
      priority: 5,
      click: `https://hive.example.org/inbox#/ask/${prompt.ask_id}`,
    },
  ]);
});

test('a storm, a ping and a mention have a link to their screens', async () => {
  const hive = await openTestHive();
  const questions: [Told, Told] = [
    tellPrompt(await ask(hive), PREFERENCES),
    tellPrompt(await ask(hive), PREFERENCES),
  ];
  const session = await agent(hive, 'bg-1');
  const ping = await hive.outreach.ping({ message: 'Deployed.' }, session);
  const { mentions } = await post(hive, session, '@Human look');
  const mention = await hive.store.read((tx) => tx.mentions.get(mentions[0]?.mention_id ?? ''));
  const { send, got } = await startNtfy(200);
  await send(popupOf('prompt', questions, PREFERENCES));
  await send(popupOf('outreach', [tellOutreach(ping)], PREFERENCES));
  await send(
    popupOf(
      'mention',
      [tellMention({ ...(mention ?? expect.fail()), source: 'main', agent_title: null })],
      PREFERENCES,
    ),
  );
  const inbox = 'https://hive.example.org/inbox#/';
  expect(got).toMatchObject([
    { click: inbox, message: expect.stringContaining('2 from') },
    { click: `${inbox}reports`, message: 'Deployed.', priority: 3 },
    { click: `${inbox}messages`, message: '@Human look' },
  ]);
});

test('a server that refuses it makes the notification fail', async () => {
  const prompt = await ask(await openTestHive());
  const { send, got } = await startNtfy(403);
  await expect(send(popupOf('prompt', [tellPrompt(prompt, PREFERENCES)], PREFERENCES))).rejects.toThrow(
    /ntfy answered 403/,
  );
  expect(got).toHaveLength(1);
});
