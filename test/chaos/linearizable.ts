/**
 * A checker of histories (`history.ts`) that shares no code with Hive nor with the other checks, and reads nothing but the
 * history: is there one order of all operations on a prompt, each at some time between its invocation and its completion, that
 * explains everything that anybody was told? The search is that of Wing and Gong: prompts are independent of each other, so
 * each is searched alone. What changes nothing is never a choice, so a search goes through few orders even where nobody knows
 * of many operations whether they happened. It is bounded all the same: a prompt whose search is given up is undecided, which
 * counts as a violation.
 *   node test/chaos/linearizable.ts FILE
 */
import { readFileSync } from 'node:fs';

interface Line {
  index: number;
  process: number;
  type: string;
  f: string;
  value: Record<string, unknown>;
}

/**
 * A prompt as the model knows it; `outcomes` has what became of each answer that has taken effect. An answer that lost is not
 * in it: it changed nothing, and sent again at any later time it loses again.
 */
interface State {
  status: string;
  decision: string | null;
  late: string | null;
  outcomes: ReadonlyMap<string, 'accepted' | 'late' | 'amended'>;
}

/** One operation on one prompt: when it was invoked and completed, as places in the history. */
interface Act {
  from: number;
  /** Infinity: nobody knows whether it has happened. */
  to: number;
  /** The state after it, the same object where it changes nothing; null if the model does not allow what the caller was told. */
  apply(state: State): State | null;
  says: string;
}

interface Subject {
  acts: Act[];
  expires: boolean;
}

export interface Finding {
  looked_at: number;
  violations: string[];
}

const ABSENT: State = { status: 'absent', decision: null, late: null, outcomes: new Map() };

/** The most steps for one prompt. A search that ends takes a few hundred. */
const MOST_STEPS = 20_000;
/** After so many prompts without an order, or undecided, the others are left out: that the store failed is certain by then. */
const MOST_STUCK = 20;

export function checkHistory(lines: readonly Line[], most_steps: number = MOST_STEPS): Finding {
  const violations: string[] = [];
  const subjects = new Map<string, Subject>();
  const subjectOf = (ask_id: string): Subject => {
    const known = subjects.get(ask_id) ?? { acts: [], expires: false };
    subjects.set(ask_id, known);
    return known;
  };
  const names = namesOf(lines, violations);
  for (const { invoked, completed } of pairs(lines, violations)) {
    // A refused operation has not happened.
    if (completed?.type === 'fail') continue;
    const got =
      completed?.type === 'ok' ? ((completed.value['got'] ?? []) as Record<string, unknown>[]) : null;
    const span = {
      from: invoked.index,
      to: got === null ? Number.POSITIVE_INFINITY : (completed?.index ?? 0),
    };
    for (const { ask_id, ...act } of actsOf(invoked, got, names)) {
      const subject = subjectOf(ask_id);
      subject.acts.push({ ...span, ...act });
      if (invoked.f === 'ask' && invoked.value['expires'] === true) subject.expires = true;
    }
    if (invoked.f === 'read all')
      for (const ask_id of subjects.keys())
        if (got?.every((row) => row['ask_id'] !== ask_id) === true)
          subjectOf(ask_id).acts.push({ ...span, ...reading('absent', {}, 'the store does not have it') });
  }
  let looked_at = 0;
  let [stuck, left] = [0, subjects.size];
  for (const [ask_id, subject] of subjects) {
    if (stuck === MOST_STUCK) break;
    left -= 1;
    looked_at += subject.acts.length;
    const why = unexplained(subject, most_steps);
    if (why === null) continue;
    stuck += 1;
    const finding = why.undecided ? `Undecided after ${most_steps} steps for` : 'No order explains';
    violations.push(`${finding} ${ask_id}: ${why.says}`);
  }
  if (left > 0) violations.push(`${left} more prompts were not searched.`);
  return { looked_at, violations };
}

/** The key of each question. */
function namesOf(lines: readonly Line[], violations: string[]): Map<string, string> {
  const names = new Map<string, string>();
  for (const { type, f, value } of lines) {
    if (type !== 'ok' || (f !== 'ask' && f !== 'read all')) continue;
    for (const { key, ask_id } of value['got'] as Record<string, unknown>[]) {
      if (typeof key !== 'string' || typeof ask_id !== 'string') continue;
      const known = names.get(key);
      if (known !== undefined && known !== ask_id)
        violations.push(`The key "${key}" was said to be ${known}, and later to be ${ask_id}.`);
      names.set(key, ask_id);
    }
  }
  return names;
}

interface Pair {
  invoked: Line;
  /** Missing where the history ends first. */
  completed: Line | undefined;
}

function pairs(lines: readonly Line[], violations: string[]): Pair[] {
  const open = new Map<number, Pair>();
  const found: Pair[] = [];
  for (const line of lines) {
    const before = open.get(line.process);
    if (line.type === 'invoke') {
      if (before !== undefined) violations.push(`Process ${line.process} does two things at once.`);
      const pair: Pair = { invoked: line, completed: undefined };
      open.set(line.process, pair);
      found.push(pair);
    } else if (before === undefined || before.invoked.f !== line.f) {
      violations.push(`Line ${line.index} completes what was not invoked.`);
    } else {
      before.completed = line;
      open.delete(line.process);
    }
  }
  return found;
}

type NamedAct = Omit<Act, 'from' | 'to'> & { ask_id: string };

/** The acts of an operation, for each prompt that it changed or read. `got`: the reply to its caller; null where nobody knows. */
function actsOf(
  { f, value }: Line,
  got: readonly Record<string, unknown>[] | null,
  names: ReadonlyMap<string, string>,
): NamedAct[] {
  const ask_id = String(value['ask_id'] ?? names.get(String(value['key'])) ?? '');
  const decision = String(value['decision']);
  const [told] = got ?? [];
  switch (f) {
    case 'ask':
      // Nobody ever learned of it.
      if (ask_id === '') return [];
      return [{ ask_id, apply: ask, says: 'asked' }];
    case 'answer':
      return [
        {
          ask_id,
          apply: (state) => answer(state, decision, told ?? null),
          says: `answered "${decision}"${told === undefined ? '' : `, and told: ${outcomeOf(told)}, "${String(told['standing'])}" stands`}`,
        },
      ];
    case 'amend':
      return [{ ask_id, apply: (state) => amend(state, decision), says: `amended "${decision}"` }];
    case 'cancel':
      return [
        {
          ask_id,
          apply: (state) => cancel(state, told?.['accepted'] ?? null),
          says: `cancelled${told === undefined ? '' : `, and told: ${told['accepted'] === true ? 'accepted' : 'not accepted'}`}`,
        },
      ];
    default:
      return (got ?? []).flatMap((row): NamedAct[] => {
        const id = String(row['ask_id']);
        if (row['did'] === 'unsettled') return [{ ask_id: id, ...reading('pending', {}, 'read: pending') }];
        if (f !== 'read all' && row['did'] !== 'told') return [];
        const says = `read: ${row['status']} ${row['text'] ?? row['decision'] ?? ''}`;
        return [{ ask_id: id, ...reading(String(row['status']), contentsOf(row), says) }];
      });
  }
}

// ---- The model ----

function ask(state: State): State {
  return state.status === 'absent' ? { ...state, status: 'pending' } : state;
}

function outcomeOf(told: Readonly<Record<string, unknown>>): 'accepted' | 'late' | 'lost' {
  return told['accepted'] === true ? 'accepted' : told['late'] === true ? 'late' : 'lost';
}

function answer(
  state: State,
  decision: string,
  told: Readonly<Record<string, unknown>> | null,
): State | null {
  if (state.status === 'absent') return null;
  const before = state.outcomes.get(decision);
  const { status, late } = state;
  const outcome =
    before ?? (status === 'pending' ? 'accepted' : status !== 'responded' && late === null ? 'late' : 'lost');
  if (told !== null && outcomeOf(told) !== outcome) return null;
  if (outcome === 'lost')
    return told !== null && status === 'responded' && told['standing'] !== state.decision ? null : state;
  if (before !== undefined) return state;
  const outcomes = new Map([...state.outcomes, [decision, outcome]]);
  return outcome === 'accepted'
    ? { ...state, status: 'responded', decision, outcomes }
    : { ...state, late: decision, outcomes };
}

function amend(state: State, decision: string): State | null {
  if (state.outcomes.has(decision)) return state;
  const outcomes = new Map([...state.outcomes, [decision, 'amended' as const]]);
  if (state.status === 'responded') return { ...state, decision, outcomes };
  return state.late === null ? null : { ...state, late: decision, outcomes };
}

function cancel(state: State, accepted: unknown): State | null {
  if (state.status === 'absent') return null;
  const takes = state.status === 'pending';
  if (accepted !== null && accepted !== takes) return null;
  return takes ? { ...state, status: 'cancelled' } : state;
}

/** The answer as a reader was told it: its words, or a text that must have them. */
interface Contents {
  decision?: unknown;
  late?: unknown;
  text?: string;
}

function contentsOf({ text, via, decision, late }: Readonly<Record<string, unknown>>): Contents {
  if (typeof text !== 'string') return { decision, late };
  if (via === 'hook') return { text };
  const read = JSON.parse(text) as { decision?: unknown; late_response?: { decision?: unknown } | null };
  return { decision: read.decision ?? null, late: read.late_response?.decision ?? null };
}

function reading(status: string, { decision, late, text }: Contents, says: string): Omit<NamedAct, 'ask_id'> {
  return {
    says,
    apply(state) {
      if (state.status !== status) return null;
      if (decision !== undefined && decision !== state.decision) return null;
      if (late !== undefined && late !== state.late) return null;
      const said = state.late ?? state.decision;
      return text !== undefined && said !== null && !text.includes(said) ? null : state;
    },
  };
}

// ---- The search ----

interface Stuck {
  /** The search was given up: there may be an order. */
  undecided: boolean;
  /** The operations that no order gets past, as far as was searched, and all of the prompt's, since a log is often all there is. */
  says: string;
}

/** Null where an order was found. */
function unexplained({ acts, expires }: Subject, most_steps: number): Stuck | null {
  const ordered = acts.toSorted((one, other) => one.from - other.from);
  const tried = new Set<string>();
  let furthest: { count: number; state: State; left: readonly Act[] } = {
    count: -1,
    state: ABSENT,
    left: [],
  };
  type Place = { state: State; left: readonly Act[] };
  const stack: Place[] = [{ state: ABSENT, left: ordered }];
  let undecided = false;
  for (let place = stack.pop(); place !== undefined; place = stack.pop()) {
    undecided = tried.size === most_steps;
    if (undecided) break;
    const { state } = place;
    let { left } = place;
    // An act that changes nothing, a read that fits or an answer that loses, is in nobody's way: taking it at once is never wrong.
    for (;;) {
      const idle = dueIn(left).filter(({ apply }) => apply(state) === state);
      if (idle.length === 0) break;
      left = left.filter((act) => !idle.includes(act));
    }
    if (left.every(({ to }) => to === Number.POSITIVE_INFINITY)) return null;
    const pairs = [...state.outcomes].map((pair) => pair.join('='));
    const outcomes = pairs.toSorted().join(',');
    const name = `${left.map(({ from }) => from).join(',')} ${state.status} ${state.decision} ${state.late} ${outcomes}`;
    if (tried.has(name)) continue;
    tried.add(name);
    const count = ordered.length - left.length;
    if (count > furthest.count) furthest = { count, state, left };
    // Hive itself ends questions: when their time is up, and when their turn was stopped.
    if (state.status === 'pending') {
      if (expires) stack.push({ state: { ...state, status: 'expired' }, left });
      stack.push({ state: { ...state, status: 'cancelled' }, left });
    }
    for (const act of dueIn(left)) {
      const after = act.apply(state);
      if (after !== null) stack.push({ state: after, left: left.filter((one) => one !== act) });
    }
  }
  const { state, left } = furthest;
  const stands = `it was ${state.status}${state.decision === null ? '' : ` with "${state.decision}"`}${state.late === null ? '' : `, late "${state.late}"`}`;
  const due = dueIn(left).map(({ says, from }) => `${says} (line ${from})`);
  const all = ordered.map(
    ({ says, from, to }) => `line ${from} to ${Number.isFinite(to) ? to : '?'}: ${says}`,
  );
  const history = ['Everything that was done to it:', ...all].join('\n        ');
  return { undecided, says: `${stands}, and then somebody ${due.join('; ')}. ${history}` };
}

/** Those that may be next: no other one was completed before they were invoked. */
function dueIn(left: readonly Act[]): Act[] {
  let first = Number.POSITIVE_INFINITY;
  for (const { to } of left) first = Math.min(first, to);
  return left.filter(({ from }) => from < first);
}

if (import.meta.main) {
  const text = readFileSync(process.argv[2] ?? '', 'utf8');
  const { looked_at, violations } = checkHistory(
    text
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line) as Line),
  );
  for (const violation of violations) console.log(violation);
  console.log(`${looked_at} operations on prompts, ${violations.length} violations`);
  process.exitCode = violations.length === 0 ? 0 : 1;
}
