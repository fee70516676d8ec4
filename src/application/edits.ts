/**
 * Edits: whether files that a permission shows as diffs have changed since, and whether an allowed edit had the shown effect. The
 * diffs themselves are made where the tool runs (hook-dialogs.ts), when it asks and again when it gets its answer.
 */
import { editKey } from '../domain/dialogs.ts';
import { type ExpectedFile, filesShown, unexpectedEffect, unexpectedSentence } from '../domain/edits.ts';
import type { HookEvent } from '../domain/hooks.ts';
import type { Prompt } from '../domain/prompts.ts';
import { labelled } from '../domain/sources.ts';
import type { HookContext, HookHandler, HookSurroundings } from './hook-context.ts';
import { giveNotice } from './notices.ts';
import type { Store } from './ports.ts';
import type { Files } from './world.ts';

export function createEdits({
  store,
  files,
  machine,
}: {
  store: Store;
  files: Pick<Files, 'modifiedMs'>;
  /** This machine: files of other machines cannot be read. */
  machine: string;
}) {
  return {
    /** The files on this machine that were written or deleted since the agent asked; for a pending dialog only. */
    async changedSince(prompt: Prompt): Promise<string[]> {
      const { status, dialog, kind, context, session_id, created_at } = prompt;
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

// ---- The effect of an allowed edit ----

/** Records what the human was shown in the event log, to compare once the tool has run. */
export async function rememberAllowedEdit(
  { tx, session }: Pick<HookContext, 'tx' | 'session'>,
  event: Parameters<typeof editKey>[0],
  { ask_id }: Pick<Prompt, 'ask_id'>,
  files: readonly ExpectedFile[],
): Promise<void> {
  const { session_id } = session;
  await tx.events.append({
    type: 'edit/allowed',
    session_id,
    subject: editKey(event),
    data: { ask_id, files },
  });
}

/** How many events are searched: the same call may be allowed repeatedly. */
const MOST_EVENTS = 1_000;

/** Compares the files of an allowed edit with what was shown, as soon as it has run, because its agent may edit them again. */
export async function editHandler(
  event: HookEvent,
  { editTools }: HookSurroundings,
  store: Pick<Store, 'read'>,
): Promise<HookHandler> {
  const subject = editKey(event);
  const allowed = await store.read(async (tx) => (await tx.events.of(subject, MOST_EVENTS)).at(-1));
  const { ask_id, files } = (allowed?.data ?? {}) as { ask_id: string; files?: ExpectedFile[] };
  if (allowed?.type !== 'edit/allowed' || files === undefined || editTools === undefined)
    return async () => null;
  const failed = event.name !== 'PostToolUse';
  const made = failed ? null : unexpectedEffect(files, await editTools(event.cwd));
  const shown = made === null ? undefined : await store.read((tx) => tx.prompts.get(ask_id));
  return async ({ tx, session }) => {
    const { session_id } = session;
    const data = { ask_id, failed, as_shown: made === null };
    await tx.events.append({ type: 'edit/compared', session_id, subject, data });
    if (made === null) return null;
    const text = unexpectedSentence(labelled(session), shown?.context ?? '', made);
    await giveNotice(tx, { severity: 'warning', session_id, text, data: { ask_id } });
    return null;
  };
}
