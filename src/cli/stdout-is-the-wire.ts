/**
 * Imported before anything else: a stray line on stdout wedges a JSON-RPC peer (measured: 180 bytes are
 * enough for Emacs), so whatever any library prints goes to stderr.
 */
import { Console } from 'node:console';

globalThis.console = new Console(process.stderr, process.stderr);
