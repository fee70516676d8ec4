/**
 * Imported before anything else. A stray line on stdout blocks a JSON-RPC peer (measured: 180 bytes are enough for
 * Emacs), so everything that a library prints goes to stderr.
 */
import { Console } from 'node:console';

globalThis.console = new Console(process.stderr, process.stderr);
