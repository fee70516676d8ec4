/**
 * Trust: things that are permitted without a question, by the human's file, and by Emacs while it is connected. None of this is
 * in the store. Each change is an event, and a problem with the file is reported once.
 */
import { type Authority, NO_AUTHORITY, type Trust } from '../domain/trust.ts';
import { giveNotice } from './notices.ts';
import type { Store, WriteTx } from './ports.ts';
import { recordChanged, type Setter } from './settings.ts';
import { type Check, checkBroken, checkOk } from './world.ts';

export type AuthorityChanges = { [Key in keyof Authority]?: Authority[Key] | null | undefined };

export type TrustService = ReturnType<typeof createTrust>;

export function createTrust(store: Store, seat: string, file: () => Trust) {
  let lent: Partial<Authority> = {};
  const authority = (): Authority => {
    const { popup_permissions, notify_command } = file();
    return { popup_permissions, notify_command, ...lent };
  };
  return {
    /** The human's file as it is now. */
    file,
    /** The authority in this process: as set by Emacs, else by the file. */
    authority,
    /** Sets the authority that Emacs gives, until this process ends. Null permits nothing; missing keys keep their values. */
    async lend(changes: AuthorityChanges, setter?: Setter): Promise<Authority> {
      const given = Object.entries(changes).filter(([, value]) => value !== undefined);
      const next = Object.fromEntries(
        given.map(([key, value]) => [key, value ?? NO_AUTHORITY[key as keyof Authority]]),
      ) as Partial<Authority>;
      const before = authority();
      const changed = Object.keys(next).filter(
        (key) => next[key as keyof Authority] !== before[key as keyof Authority],
      );
      if (changed.length > 0)
        await store.write((tx) => recordChanged(tx, { seat, changed, via: 'emacs' }, setter));
      lent = { ...lent, ...next };
      return authority();
    },
    /** Records that the file has changed, and notifies the human of its problems. */
    async note(): Promise<void> {
      const now = file();
      // Usually nothing has changed, and this check takes no lock.
      if (await store.read(async (tx) => isSeen(await tx.desks.preferences(seat), now))) return;
      await store.write((tx) => recordTrust(tx, { seat, via: 'sidecar' }, now));
    },
  };
}

/** The key for the digest of the file that was seen last. It is not a setting and permits nothing. */
const SEEN = 'trust_seen';

function isSeen(stored: Readonly<Record<string, unknown>>, { digest }: Trust): boolean {
  return (stored[SEEN] ?? null) === digest;
}

/** Records a change of the human's file, once for each seat. */
export async function recordTrust(
  tx: WriteTx,
  { seat, via }: { seat: string; via: 'hook' | 'sidecar' },
  file: Trust,
): Promise<void> {
  const stored = await tx.desks.preferences(seat);
  if (isSeen(stored, file)) return;
  await tx.desks.setPreferences(seat, { ...stored, [SEEN]: file.digest });
  const { path, digest, problems } = file;
  await tx.events.append({
    type: 'trust/changed',
    data: { seat, path, digest, before: stored[SEEN] ?? null, counts: problems.length === 0, via },
  });
  const text = problemText(file);
  if (text !== null) await giveNotice(tx, { severity: 'warning', text, data: { seat } });
}

/** The file's problems in words for the human; null if there are none. */
function problemText(trust: Trust): string | null {
  const [first, ...more] = trust.problems;
  if (first === undefined) return null;
  const others = more.length === 0 ? '' : ` (and ${more.length} more; see hive doctor)`;
  return `${first}${others} Until then ${whatCounts(trust)}.`;
}

/** The effect of a file with a problem. If it cannot be read, its rules are unknown, so they deny nothing either. */
function whatCounts({ path, permission_rules }: Trust): string {
  if (permission_rules.length === 0) return `nothing in ${path} allows or denies anything`;
  return `nothing in ${path} allows anything; its rules that deny still deny`;
}

/** The doctor's checks of the file. */
export function examineTrust(trust: Trust): Check[] {
  const { path, problems, digest, permission_rules } = trust;
  if (problems.length > 0)
    return problems.map((problem) => checkBroken('Trust', problem, `until then ${whatCounts(trust)}`));
  const rules = permission_rules.length;
  const says = [
    `${rules} rule${rules === 1 ? '' : 's'}`,
    ...(trust.popup_permissions ? ['popups answer permissions'] : []),
    ...(trust.notify_command === null ? [] : ['a command for notifications']),
    ...(trust.allow_scripts_to_answer ? ['scripts may answer'] : []),
    ...(trust.terminal_may_allow ? ['permissions may be allowed at a terminal'] : []),
  ].join(', ');
  const seats = trust.seats.map(
    ({ name, key, stores }): Check =>
      checkOk('Seat', `${name} may allow permissions in ${stores?.join(', ') ?? 'every store'} (key ${key})`),
  );
  if (seats.length === 0)
    seats.push(
      checkOk('Seat', 'none yet: no answer of yours can allow anything until Emacs has connected once'),
    );
  const text =
    digest === null ? `${path} does not exist, so nothing is allowed without asking you` : `${path}: ${says}`;
  return [checkOk('Trust', text), ...seats];
}
