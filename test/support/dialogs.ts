/** Recorded dialogs of clients, replayed through the hook: the question at the desk, and the output in the end. */
import { DatabaseSync } from 'node:sqlite';
import { onTestFinished } from 'vitest';
import { permissionDigest } from '../../src/domain/permissions.ts';
import type { Prompt } from '../../src/domain/prompts.ts';
import { promptChecksums } from '../../src/infrastructure/store/prompts.ts';
import type { Row } from '../../src/infrastructure/store/sql.ts';
import type { OpenedHive } from '../../src/open-hive.ts';
import { HUMAN, pendingOf } from './hive.ts';
import { type Client, fire } from './hooks.ts';
import { eventually } from './wait.ts';

export interface FiredDialog {
  /** The prompts that a desk shows, in order. */
  prompts: Prompt[];
  /** The output of the hook when it ends. */
  printed: Promise<string>;
  /** Answers the first of the prompts at the desk, which has displayed all of it; then the output of the hook. */
  answer(decision: string, comment?: string): Promise<string>;
}

/** A desk where somebody sits. */
export async function openDesk(hive: OpenedHive): Promise<{ close(): Promise<void> }> {
  const desk = await hive.desks.open({ seat: 'ada@test', pid: process.pid, client: 'test' });
  let closed = false;
  const close = async (): Promise<void> => {
    if (!closed) await desk.close();
    closed = true;
  };
  onTestFinished(close);
  return { close };
}

/** Fires a hook that waits, and returns the prompts that it shows to the human. */
export async function fireDialog(
  hive: OpenedHive,
  raw: Record<string, unknown>,
  client: Client = {},
): Promise<FiredDialog> {
  const before = (await pendingOf(hive)).map(({ ask_id }) => ask_id);
  const printed = fire(hive, raw, client);
  // A test may end while its hook still waits; the store is then closed below it.
  printed.catch(() => undefined);
  let prompts: Prompt[] = [];
  await eventually(async () => {
    prompts = (await pendingOf(hive)).filter(({ ask_id }) => !before.includes(ask_id));
    return prompts.length > 0;
  });
  return {
    prompts,
    printed,
    async answer(decision, comment) {
      await answerDialog(hive, prompts[0]?.ask_id ?? '', decision, comment);
      return printed;
    },
  };
}

/** Answers one of its prompts at the desk, which has displayed all of it. */
export async function answerDialog(
  hive: OpenedHive,
  ask_id: string,
  decision: string,
  comment?: string,
): ReturnType<OpenedHive['prompts']['respond']> {
  const displayed_digest = permissionDigest(await hive.prompts.get(ask_id));
  return hive.prompts.respond({ ask_id, decision, comment, actor: HUMAN, displayed_digest });
}

/** Changes a stored prompt as somebody would who can write the store and knows its checksums. */
export function forge(store: string, ask_id: string, column: string, text: string): void {
  const database = new DatabaseSync(store);
  try {
    database.prepare(`UPDATE prompts SET ${column} = ? WHERE ask_id = ?`).run(text, ask_id);
    const row = database.prepare('SELECT * FROM prompts WHERE ask_id = ?').get(ask_id) as Row;
    database
      .prepare('UPDATE prompts SET checksum = ? WHERE ask_id = ?')
      .run(promptChecksums.ofRow(row), ask_id);
  } finally {
    database.close();
  }
}

/** The hook output for a permission, with the fields of the decision. */
export function permissionDecision(decision: object): object {
  return { hookEventName: 'PermissionRequest', decision };
}
