/** Opens the store and says which one it found. */
import { openHive } from '../../../src/open-hive.ts';
import { waitForOthers } from '../../support/wait-for-others.ts';

await waitForOthers();
const hive = await openHive();
process.stdout.write(hive.store_id);
await hive.close();
