/** The program `hive` (bin/hive runs it from dist/main.cjs): the command line in a process of its own. */
import './stdout-is-the-wire.ts';
import { main } from './main.ts';

// The reader of our messages may be gone, but that must not end the program.
process.stderr.on('error', () => undefined);

void main();
