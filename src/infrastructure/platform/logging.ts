/**
 * The logger: one JSON line per call, on stderr, because stdout belongs to the protocols. A dozen lines instead of a
 * logging library, because `hive mcp` and `hive hook` start often (docs/internals/dependencies.md).
 */
import type { Logger } from '../../application/world.ts';

/** Writes lines at `level` and above; `HIVE_LOG=info` writes all. The default, also for an unknown level, is `warn`. */
export function createLogger(level: string | undefined, write: (line: string) => void): Logger {
  const least = LEVELS.indexOf(level !== undefined && LEVELS.includes(level) ? level : 'warn');
  const at =
    (name: (typeof LEVELS)[number]) =>
    (message: string, fields: Record<string, unknown> = {}): void => {
      if (LEVELS.indexOf(name) < least) return;
      write(`${JSON.stringify({ time: new Date().toISOString(), level: name, message, ...fields })}\n`);
    };
  return { info: at('info'), warn: at('warn'), error: at('error') };
}

const LEVELS: readonly string[] = ['info', 'warn', 'error'];
