/** What is set for one session, and who may: a human anything, an agent what is its own and loosens nothing. Pure. */
import type { Actor } from './actors.ts';
import { invalidInput } from './errors.ts';
import { isReserved } from './handles.ts';
import { foldHandle } from './mention-parser.ts';
import type { OutreachChanges } from './outreach-rules.ts';
import type { GateMode, Session } from './sessions.ts';
import type { Source } from './sources.ts';

/** What can be set for a session; what is left out stays. */
export interface SessionChanges extends OutreachChanges {
  shared?: boolean | undefined;
  roles?: readonly string[] | undefined;
  gate?: GateMode | null | undefined;
  /** Holds until it is taken back with null; then what the session's client tells counts again. */
  source?: Source | null | undefined;
}

/** A role is written as a mention is: `@reviewer`. */
export const ROLE: RegExp = /^[\p{L}\p{N}][\p{L}\p{N}_-]{0,49}$/u;
export const ROLE_SENTENCE = 'A role is one word of letters, digits, - and _, as in reviewer.';

/** @throws HiveError `invalid_input` for a role that no mention could reach. */
export function checkRoles(roles: readonly string[]): void {
  for (const role of roles) {
    if (!ROLE.test(role)) throw invalidInput(`"${role}" is no role. ${ROLE_SENTENCE}`);
    if (isReserved(role)) throw invalidInput(`"${role}" is no role: @${role} reaches others already.`);
  }
}

/** The settings that a change touches. */
export function settingsIn(changes: SessionChanges): string[] {
  return Object.entries(changes)
    .filter(([, value]) => value !== undefined)
    .map(([setting]) => setting);
}

/** Why a setting is the human's, for an agent that would change its own. Mentions by the human arrive in any case. */
const THE_HUMANS: Readonly<Record<string, string>> = {
  gate: 'the gate holds an agent until it has dealt with what was written to it',
  source: 'the source decides how much an agent may send unasked, and what it must report',
};
const OF_AGENTS: ReadonlySet<string> = new Set(['shared', 'roles']);

/** What is known of the session and the others when an agent wants to change it. */
export interface Standing {
  session: Session;
  /** Which settings a human has set for it, with the name of that human. */
  setByHuman: ReadonlyMap<string, string>;
  /** The handles of the other sessions. */
  others: readonly string[];
}

/** Why this actor may not make these changes, as a sentence; null when it may. */
export function refusalToSet(
  actor: Actor,
  changes: SessionChanges,
  { session, setByHuman, others }: Standing,
): string | null {
  if (actor.kind !== 'agent') return null;
  if (actor.session_id !== session.session_id)
    return `An agent changes only its own settings, and ${session.handle} is another session. Ask your human.`;
  for (const setting of settingsIn(changes)) {
    if (!OF_AGENTS.has(setting)) {
      const why = THE_HUMANS[setting] ?? 'it limits what an agent may send unasked';
      return `Only a human changes "${setting}": ${why}. Ask your human, who can do it in Emacs (M-x hive-sessions, c) or in a terminal (hive sessions set ${session.handle} …). Nothing was changed.`;
    }
    const human = setByHuman.get(setting);
    if (human !== undefined)
      return `${human} has set "${setting}" for you, and only a human changes it again. Nothing was changed.`;
  }
  const taken = changes.roles?.find((role) => others.some((name) => foldHandle(name) === foldHandle(role)));
  if (taken !== undefined)
    return `"${taken}" is the handle of another session: you would get its mentions. Choose another role.`;
  return null;
}
