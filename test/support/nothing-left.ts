/** Loaded before each test file (vitest.config.ts): whatever it starts or writes, it leaves nothing behind. */
import { expectNothingLeft } from './leaks.ts';

expectNothingLeft();
