/**
 * Runs before each test file (vitest.config.ts): every property is tried on the same inputs each time, so that it fails only
 * when something has changed. `HIVE_TEST_SEED=N npm test` tries others; `npm run fuzz` tries many.
 */
import fc from 'fast-check';

const SEED = Number(process.env['HIVE_TEST_SEED'] ?? 20_260_111);
if (!Number.isInteger(SEED)) throw new Error('HIVE_TEST_SEED takes a whole number.');

fc.configureGlobal({ seed: SEED });
