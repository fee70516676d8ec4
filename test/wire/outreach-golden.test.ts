/** The notifications to Emacs about pings, cards, reports and notices, exactly as on the wire. */
import { test } from 'vitest';
import { ENDED } from '../support/ended-process.ts';
import { openTestHive } from '../support/hive.ts';
import { agent } from '../support/outreach.ts';
import { type Loose, serveInProcess } from '../support/sidecar.ts';
import { expectGolden } from './golden.ts';

test('a ping, a card and a report are received, and change; an agent that got away is a notice', async () => {
  const hive = await openTestHive();
  const desk = await serveInProcess(hive);
  const told = async (method: string, name: string, kind?: string): Promise<void> => {
    const frame = await desk.seen(
      (one) => one.method === method && (kind === undefined || (one.params as Loose).kind === kind),
    );
    expectGolden(`sidecar/${name}`, { notification: { method, params: frame.params as unknown } });
  };
  const session = await agent(hive, 'bg-1');
  await hive.outreach.ping({ message: 'Deployed.' }, session);
  await told('outreach/received', 'outreach/received-ping', 'ping');
  await told('outreach/changed', 'outreach/changed-ping', 'ping');
  await hive.outreach.card(
    {
      title: 'Build',
      description: 'All green.',
      color: 'green',
      fields: [{ name: 'Tests', value: '12', inline: true }],
      actions: [{ label: 'Ship', ask: 'Ship it now.' }],
    },
    await agent(hive, 'fork-1', 'fork'),
  );
  await told('outreach/received', 'outreach/received-card', 'card');
  await hive.store.write(async (tx) => {
    const gone = await tx.sessions.get('bg-1');
    if (gone !== undefined) await tx.sessions.upsert({ ...gone, pid: ENDED });
  });
  await hive.sessions.sweep('test');
  await told('desk/notice', 'desk/notice-unreported');
  await hive.outreach.report({ message: 'What I did.' }, await agent(hive, 'fork-1', 'fork'));
  await told('outreach/received', 'outreach/received-report', 'report');
});
