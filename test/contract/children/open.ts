/** Opens the store and says which one it found. */
import { openHive } from '../../../src/open-hive.ts';
import { waitForOthers } from '../../support/wait-for-others.ts';

await waitForOthers();
// Many processes on a busy machine wait for each other longer than a person would: speed is not tested here.
const hive = await openHive({ busy_ms: 60_000 });
process.stdout.write(hive.store_id);
await hive.close();
