/**
 * Edits at the desk: whether the files that a permission shows as diffs have changed since. The diffs themselves are made
 * where the tool runs (dialogs.ts), when it asks and again when it gets its answer.
 */
import { filesShown } from '../domain/edits.ts';
import type { Prompt } from '../domain/prompts.ts';
import type { Store } from './ports.ts';
import type { Files } from './world.ts';

export interface EditService {
  /** The files on this machine that were written or deleted since the agent asked; for a pending dialog only. */
  changedSince(prompt: Prompt): Promise<string[]>;
}

export function createEdits({
  store,
  files,
  machine,
}: {
  store: Store;
  files: Pick<Files, 'modifiedMs'>;
  /** This machine: files of others cannot be looked at. */
  machine: string;
}): EditService {
  return {
    async changedSince({ status, dialog, kind, context, session_id, created_at }) {
      if (status !== 'pending' || !dialog || kind !== 'permission' || context === null) return [];
      const shown = filesShown(context);
      if (shown.length === 0) return [];
      const session = await store.read((tx) => tx.sessions.get(session_id));
      if (session?.machine !== machine) return [];
      const asked = Date.parse(created_at);
      return shown
        .filter(({ path, existed }) => {
          const written = files.modifiedMs(path);
          return written === null ? existed : written > asked;
        })
        .map(({ path }) => path);
    },
  };
}
