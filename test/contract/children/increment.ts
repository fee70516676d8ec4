/** Adds one to a shared number, a number of times: a read-modify-write that loses count unless transactions hold. */
import { openHive } from '../../../src/open-hive.ts';
import { waitForOthers } from '../../support/wait-for-others.ts';

// Many processes on a busy machine wait for each other longer than a person would: speed is not tested here.
const hive = await openHive({ busy_ms: 60_000 });
await waitForOthers();
for (let round = 0; round < Number(process.argv[2]); round += 1) {
  await hive.store.write(async (tx) => {
    const { n = 0 } = (await tx.desks.preferences('counter')) as { n?: number };
    await tx.desks.setPreferences('counter', { n: n + 1 });
    await tx.events.append({ type: 'desk/notice', session_id: null, subject: 'counter', data: {} });
  });
}
await hive.close();
