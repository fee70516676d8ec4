/** Everything that the inbox can show, in one store. */
import { writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import type { OpenedHive } from '../../../src/open-hive.ts';
import { HUMAN, introduce } from '../../support/hive.ts';
import { join as joinAs, post } from '../../support/messages.ts';
import { agent } from '../../support/outreach.ts';
import { tempFolder } from '../../support/temp.ts';
import { claude, SESSION } from '../../support/turns.ts';
import { eventually } from '../../support/wait.ts';

export interface World {
  /** A question with context of every kind. */
  long: string;
  /** One whose asker has said something. */
  explained: string;
  /** One with several answers. */
  several: string;
  /** Free text only, written from right to left. */
  rightToLeft: string;
  permission: string;
  answered: string;
  expired: string;
}

const CONTEXT = `We can keep the old table and add a *column*, or move to **a new one**.

## What changes

\`\`\`diff
@@ -1,3 +1,3 @@
 export const delivery = {
-  retries: 1,
+  retries: 3, // a line that is longer than any phone is wide, and that has to be read to its end nevertheless
 };
\`\`\`

| way | risk | what it costs in time, in money and in nerves |
|---|---|---|
| column | low | an hour |
| table | high | a week |

1. See [the plan](https://example.org/plan).
2. Then \`migrate.ts\`.

> It was tried once.

- [x] backup
- [ ] rollback
`;

const COMMAND = `rsync --archive --delete --exclude='*.tmp' /home/ada/shop/build/ deploy@example.org:/srv/shop/releases/2026-11-23T10-15-00Z-${'0123456789abcdef'.repeat(8)}/ && systemctl restart shop`;

/** Lets agents fill the store. */
export async function fill(hive: OpenedHive): Promise<World> {
  const session = await introduce(hive);
  const ask = async (request: Parameters<typeof hive.prompts.ask>[0]): Promise<string> =>
    (await hive.prompts.ask(request, session)).prompt.ask_id;
  const long = await ask({
    question: 'Which way should the migration go?',
    header: 'Migration',
    context: CONTEXT,
    options: [
      { label: 'Add a column', description: 'An hour of work, and nobody notices.' },
      { label: 'New table', description: 'A week of work; the old one can go afterwards.' },
    ],
  });
  await hive.prompts.note(long, 'The tests of the column pass by now.', session);
  const several = await ask({
    question: 'Which of these may go into the release?',
    options: ['Search', 'Export', 'The new start page'],
    multi_select: true,
    urgency: 'low',
  });
  const rightToLeft = await ask({ question: 'ما الوصف القصير للتغيير؟', context: 'النص **مهم** جدًا.' });
  const permission = await ask({
    question: `Run this?\n${COMMAND}`,
    context: `Directory: /home/ada/shop\n\n${Array.from({ length: 40 }, (_, n) => `- step ${n + 1}`).join('\n')}`,
    options: [
      { label: 'Allow', description: 'This once' },
      { label: 'Deny', description: 'What you write is sent to the agent', refuses: true },
    ],
    kind: 'permission',
    urgency: 'critical',
  });
  const answered = await ask({ question: 'Is this settled?', options: ['Yes', 'No'] });
  await hive.prompts.respond({ ask_id: answered, decision: 'Yes', actor: HUMAN });
  const snoozed = await ask({ question: 'And later?' });
  await hive.prompts.snooze(snoozed, new Date(Date.now() + 3_600_000).toISOString());
  const expired = await ask({ question: 'Too late?', options: ['Yes'], timeout_ms: 1_000 });
  const peer = await joinAs(hive, 'abc12-session');
  await post(hive, peer, 'The build is **green** again. @human please look at `src/shop.ts`.');
  await post(hive, 'human', `Thank you, @${peer.handle}.`);
  const other = await joinAs(hive, 'def34-session', { project: `shop-${'0123456789'.repeat(4)}` });
  for (let n = 0; n < 7; n += 1)
    await post(hive, n % 2 === 0 ? peer : other, `@${(n % 2 === 0 ? other : peer).handle} Thanks!`);
  await hive.outreach.card(
    {
      title: 'Deployment',
      description: 'Release 2.0 is on *three* of four machines.',
      color: 'green',
      fields: [{ name: 'Errors', value: '0' }],
    },
    session,
  );
  await hive.outreach.report({ message: 'The migration is **done**.' }, await agent(hive, 'bg-session'));
  const busy = claude(hive, { session_id: SESSION, surroundings: { machine: hostname() } });
  await busy.start();
  const transcript_path = join(tempFolder(), 'transcript.jsonl');
  const message = {
    role: 'assistant',
    content: [{ type: 'text', text: 'The **cache** is stale, so I ask.' }],
  };
  writeFileSync(transcript_path, `${JSON.stringify({ type: 'assistant', message })}\n`);
  await busy.say('UserPromptSubmit', { prompt_id: 'prompt-1', prompt: 'go', transcript_path });
  const asker = await hive.sessions.find(SESSION);
  if (asker === undefined) throw new Error('Its hooks have introduced it.');
  const explained = (await hive.prompts.ask({ question: 'Remove the cache?', options: ['Yes'] }, asker))
    .prompt.ask_id;
  // The server expires it.
  await eventually(async () => (await hive.prompts.get(expired)).status === 'expired');
  return { long, explained, several, rightToLeft, permission, answered, expired };
}
