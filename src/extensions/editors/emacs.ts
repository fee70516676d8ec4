/**
 * Agents that other packages in this Emacs show (agent-shell, ECA): their sessions, their turns, and their dialogs, which are
 * offered at the desks as well. When the connection ends, everything that this Emacs opened is withdrawn; that allows nothing.
 */
import type { z } from 'zod';
import { listed } from '../../adapters/emacs/frames.ts';
import {
  acts,
  type DeskConnection,
  described,
  type EmacsExtension,
  type Method,
  type Methods,
} from '../../adapters/emacs/method.ts';
import { invalidInput } from '../../domain/errors.ts';
import { formFrom, formHeader } from '../../domain/forms.ts';
import { cleanDeep } from '../../domain/text.ts';
import type { EditorDialog } from './dialog.ts';
import { createEditors, type EditorService } from './dialogs.ts';
import {
  beginTurnParams,
  closeParams,
  endTurnParams,
  handedParams,
  introduceParams,
  openParams,
  sessionRef,
} from './params.ts';
import { DialogRace } from './race.ts';
import { attachAgent, type EditorAgent, type EditorSession } from './sessions.ts';

/** The agents that other packages in an Emacs show, and their open dialogs. */
interface Agents {
  editors: EditorService;
  sessions: Map<string, EditorSession>;
  dialogs: Map<string, OpenDialog>;
}

/** A dialog that Emacs has opened and not closed. */
interface OpenDialog {
  session_id: string;
  key: string;
  race: DialogRace;
}

const agents = new WeakMap<DeskConnection, Agents>();

function agentsAt(connection: DeskConnection): Agents {
  const own = agents.get(connection) ?? {
    editors: createEditors(connection.hive),
    sessions: new Map(),
    dialogs: new Map(),
  };
  agents.set(connection, own);
  return own;
}

/** The earlier messages of each connection: a session must be introduced before a dialog of it is opened. */
const before = new WeakMap<DeskConnection, Promise<unknown>>();

/** The same method, but in the order in which Emacs has sent its requests. */
function inOrder(method: Method): Method {
  return described(method.params, method.says, (params, connection) => {
    const run = (): Promise<object | null> => method(params, connection);
    const done = (before.get(connection) ?? Promise.resolve()).then(run, run);
    before.set(connection, done);
    return done;
  });
}

const methods = {
  'session/introduce': acts(
    introduceParams,
    'Introduces an agent that another package in this Emacs shows, or reports changes to it. Emacs makes the id. Returns the session; if the hooks of the agent report it, their session is returned, and `hooked` is true.',
    async (params, connection) => {
      const { editors, sessions } = agentsAt(connection);
      const {
        session_id,
        client,
        directory: cwd,
        client_session_id = null,
        pid = null,
        name = null,
      } = params;
      const agent = cleanDeep({ session_id, client_session_id, client, name, pid, cwd });
      let session = sessions.get(session_id);
      if (session === undefined) {
        session = attachAgent(connection.hive, editors, agent, {
          interrupt: (by) => connection.notify('session/interrupt', { session_id, by }),
          // These are not the words of the human, and are marked as such for our hooks.
          wake: (text) =>
            connection.notify('session/wake', {
              session_id,
              text: `<task-notification>Hive: ${text}</task-notification>`,
            }),
        });
        sessions.set(session_id, session);
        // An earlier connection of this Emacs may have left some open. Emacs opens the ones that are still pending again.
        await editors.withdrawLeft(session_id);
      }
      const introduced = await session.describe(agent);
      return { session: introduced, hooked: introduced.session_id !== session_id };
    },
  ),

  'session/end': acts(
    sessionRef,
    'Reports that an agent in Emacs is gone: its turn and its session end.',
    async ({ session_id }, connection) => {
      await closeSession(connection, session_id, true);
      return {};
    },
  ),

  'turn/begin': acts(
    beginTurnParams,
    'Reports that an agent in Emacs begins a turn. Dialogs that are opened during the turn end with it. `turn_id` is null if its hooks report its turns.',
    async ({ session_id, client_turn_id }, connection) => {
      const turn = await sessionOf(connection, session_id).beginTurn(client_turn_id ?? null);
      return { turn_id: turn?.turn_id ?? null };
    },
  ),

  'turn/end': acts(
    endTurnParams,
    'Reports that the turn of an agent in Emacs has ended, and all its dialogs with it. `cancelled` as the reason means that somebody stopped it.',
    async ({ session_id, stop_reason }, connection) => {
      const session = sessionOf(connection, session_id);
      await withdrawAll(connection, session_id, stop_reason === 'cancelled' ? 'interrupted' : 'withdrawn');
      await session.endTurn(stop_reason ?? null);
      return {};
    },
  ),

  'dialog/open': acts(
    openParams,
    'Offers a dialog of an agent at the desks, with its own options in its order, or with `form` the fields of a form. Returns its `prompts`; none if only Emacs can show it. Sent again with the same key, it is the same dialog. `answer` is set if a rule of the human has already answered, or a desk did before Emacs connected again. With `hooked`, the hooks of the agent offer it. The dialog ends with the connection and with the turn, and then nothing is allowed.',
    async (params, connection) => {
      const { session_id, key } = params;
      const dialog = agentsAt(connection).dialogs.get(key) ?? openDialog(connection, params);
      if (dialog.session_id !== session_id)
        throw invalidInput(`The key "${key}" is that of a dialog of another session.`);
      const opened = await dialog.race.opened;
      if (opened === null) return { prompts: [], hooked: true, answer: null };
      const { offered, answer } = opened;
      const found = await Promise.all(offered.ask_ids.map((ask_id) => connection.hive.prompts.get(ask_id)));
      return { prompts: found.map(listed), hooked: false, answer };
    },
  ),

  'dialog/close': acts(
    closeParams,
    'Reports that a dialog is no longer pending: its editor has answered it (`answered_elsewhere`, with the answer as `decision`), its agent has withdrawn it, or its turn was interrupted. `accepted` is false if a desk answered first, or nothing is open under this key.',
    async ({ key, reason, decision }, connection) => {
      const dialog = agentsAt(connection).dialogs.get(key);
      if (dialog === undefined) return { accepted: false };
      return { accepted: await close(connection, dialog, reason, decision ?? null) };
    },
  ),

  'dialog/handed': acts(
    handedParams,
    'Reports that Emacs has given the agent the answer of `dialog/answered`, which proves that it arrived. If no desk has answered, the dialog is withdrawn.',
    async ({ key }, connection) => {
      const { editors, dialogs } = agentsAt(connection);
      const dialog = dialogs.get(key);
      if (dialog === undefined) return {};
      await close(connection, dialog, 'withdrawn');
      await editors.acted(dialog.session_id, key);
      return {};
    },
  ),
} satisfies Methods;

const methodsInOrder: Methods = Object.fromEntries(
  Object.entries(methods).map(([name, method]) => [name, inOrder(method)]),
);

function sessionOf(connection: DeskConnection, session_id: string): EditorSession {
  const session = agentsAt(connection).sessions.get(session_id);
  if (session !== undefined) return session;
  throw invalidInput(`This desk has introduced no session ${session_id}: send session/introduce first.`);
}

/** Offers a dialog, and passes its answer to Emacs once a desk has given one. */
function openDialog(connection: DeskConnection, params: z.infer<typeof openParams>): OpenDialog {
  const { hive, notify } = connection;
  const { editors, dialogs } = agentsAt(connection);
  const { session_id, key } = params;
  const session = sessionOf(connection, session_id);
  const race = new DialogRace(editors, () => session.open(dialogOf(params, session.about()), key));
  const dialog: OpenDialog = { session_id, key, race };
  dialogs.set(key, dialog);
  // A retry opens it again.
  race.opened.catch(() => dialogs.delete(key));
  void race.opened
    .then(async (opened) => {
      // The reply to the request contains the answer of a rule.
      if (opened === null || opened.answer !== null) return;
      const { ask_ids } = opened.offered;
      const answer = await race.answer();
      if (answer !== null) await notify('dialog/answered', { session_id, key, ask_ids, answer });
    })
    .catch((error: unknown) =>
      hive.log.warn('A dialog of an agent in Emacs is not at the desks.', { error: String(error) }),
    );
  return dialog;
}

function dialogOf(params: z.infer<typeof openParams>, { client, cwd }: EditorAgent): EditorDialog {
  const { form, tool, kind, input, header, context, changes, rest, options } = params;
  if (form !== null && form !== undefined) {
    const { message, schema, url } = form;
    const given = { mode: url == null ? 'form' : 'url', url, schema: schema ?? {}, message };
    const dialog = formFrom(given, { asker: `The agent ${client}`, header: formHeader(client) });
    if (dialog === null) throw invalidInput('This form has neither fields nor a page.');
    return dialog;
  }
  const notes = [header, context].flatMap((text) => text || []);
  return {
    kind: 'permission',
    tool: { name: tool ?? kind ?? 'other', input: input ?? {} },
    notes: [...new Set(notes)],
    changes: changes ?? [],
    rest: rest ?? {},
    options: (options ?? []).map(({ id, label, description, refuses, once }) => ({
      id,
      label,
      description: description ?? null,
      refuses,
      once: once ?? false,
    })),
    cwd,
    takes_notes: params.takes_notes ?? false,
  };
}

async function close(
  connection: DeskConnection,
  { key, race }: OpenDialog,
  reason: z.infer<typeof closeParams>['reason'],
  decision: string | null = null,
): Promise<boolean> {
  agentsAt(connection).dialogs.delete(key);
  await race.opened.catch(() => null);
  const accepted = await race.withdraw(reason, decision);
  race.end();
  return accepted;
}

async function withdrawAll(
  connection: DeskConnection,
  session_id: string,
  reason: 'withdrawn' | 'interrupted',
): Promise<void> {
  const own = [...agentsAt(connection).dialogs.values()].filter((dialog) => dialog.session_id === session_id);
  await Promise.all(own.map((dialog) => close(connection, dialog, reason)));
}

async function closeSession(connection: DeskConnection, session_id: string, isGone: boolean): Promise<void> {
  const { sessions } = agentsAt(connection);
  const session = sessions.get(session_id);
  if (session === undefined) return;
  sessions.delete(session_id);
  await withdrawAll(connection, session_id, 'withdrawn');
  await session.close(isGone);
}

/** The connection has ended: no answer can be passed on to an agent here any more. */
async function closeAgents(connection: DeskConnection): Promise<void> {
  const { sessions } = agentsAt(connection);
  await Promise.all([...sessions.keys()].map((session_id) => closeSession(connection, session_id, false)));
}

export const agentsInEmacs: EmacsExtension = { methods: methodsInOrder, close: closeAgents };
