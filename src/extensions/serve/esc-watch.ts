/**
 * Esc in the terminal of Claude Code fires no hook, and only the transcript shows it. `hive serve` cannot read that, so the process
 * that passes on the hooks of a client watches it, and reports Esc as Codex does: with the event Interrupt.
 */
import type { Files } from '../../application/world.ts';
import { hookClient } from '../../domain/hooks.ts';
import { type Raw, textIn } from '../../domain/json.ts';
import { TRANSCRIPT_TAIL_BYTES, transcriptShowsInterrupt } from '../../domain/transcripts.ts';

/** As often as a sidecar reads the transcripts of its own machine. */
const CHECK_EVERY_MS = 5_000;

/** A turn, as its hooks report it. */
interface WatchedTurn {
  fields: Raw;
  client_turn_id: string;
  path: string;
  /** When its first event arrived. An interrupt from before belongs to another run under the same id. */
  started_at: string;
  /** When the transcript had been written when it was last read. */
  read_ms: number;
}

/**
 * Returns a function that gets each event of the client. The turn of the latest one is watched until Esc has ended it, or the
 * session ends. This does not keep the process running.
 */
export function watchEsc(
  { readTail, modifiedMs }: Pick<Files, 'readTail' | 'modifiedMs'>,
  report: (event: Raw) => void,
): (event: Raw) => void {
  let watched: WatchedTurn | null = null;

  function check(): void {
    const written = watched === null ? null : modifiedMs(watched.path);
    if (watched === null || written === null || written === watched.read_ms) return;
    watched.read_ms = written;
    const turn = { ...watched, continues: watched.client_turn_id };
    const tail = readTail(watched.path, TRANSCRIPT_TAIL_BYTES);
    if (tail === null || !transcriptShowsInterrupt(tail, turn)) return;
    report({ ...watched.fields, hook_event_name: 'Interrupt' });
    watched = null;
  }

  setInterval(check, CHECK_EVERY_MS).unref();
  return (event) => {
    const { client, session_id, cwd, transcript_path, prompt_id } = event;
    if (hookClient(client) !== 'claude-code' || textIn(event, 'agent_id') !== null) return;
    const [path, client_turn_id] = [textIn(event, 'transcript_path'), textIn(event, 'prompt_id')];
    if (event['hook_event_name'] === 'SessionEnd') watched = null;
    else if (path !== null && client_turn_id !== null) {
      const known = watched?.client_turn_id === client_turn_id ? watched : null;
      const fields = { client, session_id, cwd, transcript_path, prompt_id };
      const started_at = known?.started_at ?? new Date().toISOString();
      watched = { fields, client_turn_id, path, started_at, read_ms: known?.read_ms ?? 0 };
    }
  };
}
