/**
 * Agents that ask for a permission, each over another carrier: the hooks of Claude Code and of Codex, the control socket of Codex,
 * ACP, opencode, and Emacs for the packages that run in it. All of them are real but for the agent itself.
 */
import { writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { hookMachine, type OpenedHive, openHive } from '../../src/open-hive.ts';
import { beginAcp, permission, selected } from './acp.ts';
import { asksCommand, asksEdit, editItem, startAppServer } from './codex-app-server.ts';
import { openDesk } from './dialogs.ts';
import { prefer, recordingLog, SEAT } from './hive.ts';
import { type Client, fire, recordedEvent, said } from './hooks.ts';
import { trusting } from './human-file.ts';
import { whenFinished } from './lifetime.ts';
import { attach, standIn } from './opencode.ts';
import { serveInProcess } from './sidecar.ts';
import { tempFolder } from './temp.ts';
import { eventually } from './wait.ts';

/** The hive's answer to the agent; `nothing`: only the dialog of its client counts. */
export type Outcome = 'allowed' | 'refused' | 'nothing';

export interface DialogAgent {
  /** The options at the desk that allow this once, and refuse. */
  labels: { allow: string; refuse: string };
  /** The question and a part of its context, if that is not the command. */
  shown?: (command: string) => [question: string, context: string];
  /** The column of a prompt with which an allow is left to the client if it is not what was displayed, because a file may have changed. */
  leaves?: string;
  /** Asks whether it may run a command. The outcome comes once the hive has told it something. */
  ask(command: string): Promise<{ outcome: Promise<Outcome> }>;
  /** The person allows the open dialog where the client shows it. */
  allowThere(): Promise<void>;
}

export interface DialogCarrier {
  name: string;
  /** The tool as the human's rules name it. */
  tool: string;
  /** `hook`: what a hook of this client knows of its human, where it has hooks. */
  begin(hive: OpenedHive, hook?: Client): Promise<DialogAgent>;
}

const outcomeOf = (isAllowed: boolean): Outcome => (isAllowed ? 'allowed' : 'refused');

const CLAUDE = recordedEvent('claude-code/PermissionRequest-Bash-addRules.json');
const CODEX = recordedEvent('codex/PermissionRequest-Bash.json');

function hooksOf(name: string, recorded: Record<string, unknown>, client: Client): DialogCarrier {
  return {
    name,
    tool: 'Bash',
    async begin(hive, hook = {}) {
      // Codex hides its own dialog while a hook waits, so it waits only for those who want that.
      await prefer(hive, { dialog_wait: 'on' });
      await openDesk(hive);
      const from = { ...client, ...hook };
      return {
        labels: { allow: 'Allow', refuse: 'Deny' },
        ask: async (command) => {
          const printed = fire(hive, { ...recorded, tool_input: { command } }, from);
          const outcome = printed.then((text): Outcome => {
            const decision = said(text)?.hookSpecificOutput?.['decision'] as
              | { behavior?: string }
              | undefined;
            return decision === undefined ? 'nothing' : outcomeOf(decision.behavior === 'allow');
          });
          // A test may end while its hook still waits; the store is then closed below it.
          outcome.catch(() => undefined);
          return { outcome };
        },
        allowThere: async () =>
          void (await fire(hive, { ...recorded, hook_event_name: 'Stop', tool_input: undefined }, from)),
      };
    },
  };
}

/** A dialog of its terminal, which the daemon shows to every client of the thread; the hook has ended. */
function daemonOf(name: string, tool: string, isEdit: boolean): DialogCarrier {
  return {
    name,
    tool,
    async begin(hive, hook = {}) {
      const folder = tempFolder();
      const transcript_path = join(folder, 'rollout.jsonl');
      writeFileSync(transcript_path, '{"type":"session_meta","payload":{"cli_version":"0.169.0"}}');
      const edits = { cwd: folder, transcript_path, tool_name: tool };
      const recorded = isEdit ? { ...CODEX, ...edits } : CODEX;
      const open = new Map<number, { command: string; end: (outcome: Outcome) => void }>();
      /** The command, or an edit that writes it into a new file. */
      const patchOf = (command: string) => `*** Begin Patch\n*** Add File: made\n+${command}\n*** End Patch`;
      const itemOf = (id: number, command: string) =>
        editItem(folder, `call-${id}`, [
          { path: `${folder}/made`, kind: { type: 'add' }, diff: `${command}\n` },
        ]);
      const items = () => [...open].map(([id, { command }]) => itemOf(id, command));
      const daemon = await startAppServer(tempFolder(), ({ id = 0, method, result }) => {
        if (method === 'initialize') return { result: {} };
        if (method === 'thread/loaded/list') return { result: { data: [CODEX['session_id']] } };
        const thread = { status: { type: 'active', activeFlags: ['waitingOnApproval'] } };
        if (method === 'thread/resume')
          return [
            { id, result: { thread, initialTurnsPage: { data: [{ items: isEdit ? items() : [] }] } } },
            ...[...open].map(([own, { command }]) =>
              isEdit ? asksEdit(`call-${own}`, own) : asksCommand(command, own),
            ),
          ];
        open.get(id)?.end(outcomeOf(result?.['decision'] === 'accept'));
        open.delete(id);
        return [{ method: 'serverRequest/resolved', params: { requestId: id } }];
      });
      const env = { ...trusting({ seats: [SEAT] }), CODEX_HOME: daemon.home };
      const desk = await openHive({ store: hive.store.name, env, log: recordingLog() });
      whenFinished(() => desk.close());
      desk.startCodexAnswers();
      const seat = await desk.desks.open({ seat: `ada@${hostname()}`, pid: process.pid, client: 'test' });
      whenFinished(() => seat.close());
      const { human: _, ...machine } = hookMachine(env);
      const surroundings = { ...machine, ...hook.surroundings };
      const from: Client = { client: 'codex', surroundings };
      let id = 10;
      return {
        labels: { allow: 'Allow', refuse: 'Deny' },
        ...(isEdit
          ? {
              leaves: 'context',
              shown: (command) => ['Apply a patch to made?', `+++ made\n@@ -0,0 +1,1 @@\n+${command}\n`],
            }
          : {}),
        ask: async (command) => {
          id += 1;
          const own = id;
          const { promise: outcome, resolve: end } = Promise.withResolvers<Outcome>();
          // An edit begins before its hook, a command after it.
          if (isEdit) open.set(own, { command, end });
          const tool_input = isEdit
            ? { command: patchOf(command) }
            : { ...(CODEX['tool_input'] as object), command };
          const printed = said(await fire(hive, { ...recorded, tool_input }, from));
          const decision = printed?.hookSpecificOutput?.['decision'] as { behavior?: string } | undefined;
          open.set(own, { command, end });
          if (decision !== undefined) end(outcomeOf(decision.behavior === 'allow'));
          return { outcome };
        },
        async allowThere() {
          open.delete(id);
          await fire(hive, { ...recorded, hook_event_name: 'Stop', tool_input: undefined }, from);
        },
      };
    },
  };
}

const ACP: DialogCarrier = {
  name: 'ACP',
  tool: 'execute',
  async begin(hive) {
    const { client, agent } = await beginAcp(hive);
    let id = 100;
    return {
      labels: { allow: 'Allow', refuse: 'Reject' },
      async ask(command) {
        id += 1;
        const own = id;
        agent.send(permission(own, { command }));
        const outcome = agent
          .until((message) => message.id === own)
          .then(({ result }) => outcomeOf(result.outcome.optionId === 'once'));
        outcome.catch(() => undefined);
        return { outcome };
      },
      async allowThere() {
        client.send({ id, result: selected('once') });
      },
    };
  },
};

const OPENCODE: DialogCarrier = {
  name: 'opencode',
  tool: 'Bash',
  async begin(hive) {
    const server = await standIn();
    await attach(hive, server.url);
    server.begin('ses_1');
    let id = 0;
    return {
      labels: { allow: 'Allow once', refuse: 'Reject' },
      async ask(command) {
        id += 1;
        const own = `per_${id}`;
        server.askPermission(own, { command });
        const reply = () => server.replies.find((one) => one.id === own && one.counted);
        const outcome = eventually(() => reply() !== undefined).then(() =>
          outcomeOf(reply()?.body?.reply === 'once'),
        );
        outcome.catch(() => undefined);
        return { outcome };
      },
      async allowThere() {
        server.answer(`per_${id}`, 'once');
      },
    };
  },
};

const EMACS: DialogCarrier = {
  name: 'a package in Emacs',
  tool: 'execute',
  async begin(hive) {
    const emacs = await serveInProcess(hive);
    const session_id = 'editor-carrier';
    await emacs.request('session/introduce', { session_id, client: 'Gemini', directory: '/demo' });
    const options = [
      { id: 'once', label: 'Allow', refuses: false, once: true },
      { id: 'no', label: 'Reject', refuses: true, once: true },
    ];
    let key = 0;
    return {
      labels: { allow: 'Allow', refuse: 'Reject' },
      async ask(command) {
        key += 1;
        const own = String(key);
        const params = { session_id, key: own, kind: 'execute', input: { command }, options };
        const { answer } = await emacs.request('dialog/open', params);
        const given =
          answer !== null
            ? Promise.resolve(answer)
            : emacs
                .seen(({ method, params }) => method === 'dialog/answered' && params.key === own)
                .then(({ params }) => params.answer);
        const outcome = given.then(({ option_id }) => outcomeOf(option_id === 'once'));
        outcome.catch(() => undefined);
        return { outcome };
      },
      async allowThere() {
        const params = { key: String(key), reason: 'answered_elsewhere', decision: 'Allow' };
        await emacs.request('dialog/close', params);
      },
    };
  },
};

export const CARRIERS: readonly DialogCarrier[] = [
  hooksOf('hooks of Claude Code', CLAUDE, {}),
  hooksOf('hooks of Codex', CODEX, { client: 'codex' }),
  daemonOf("Codex's control socket", 'Bash', false),
  daemonOf("Codex's control socket, for an edit", 'apply_patch', true),
  ACP,
  OPENCODE,
  EMACS,
];
