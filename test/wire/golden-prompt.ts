/**
 * A prompt, as Emacs gets it, is in full in one golden frame only, `sidecar/hivemind-ask.json`. Every other frame
 * shows what differs from it, so that a new field changes no more than the frames it is about.
 */
import { listed } from '../../src/adapters/emacs/frames.ts';
import type { AskRequest } from '../../src/domain/prompts.ts';
import { newPrompt } from '../support/new-prompt.ts';

/** A question with every field that an asker can fill. */
export const FULL_QUESTION: AskRequest = {
  question: 'Which colour?',
  header: 'Paint',
  context: '# The wall\nIt is white.',
  options: ['red', { label: 'blue', description: 'like the sky' }],
  multi_select: true,
  urgency: 'low',
  group_id: 'form-1',
  label: 'wall',
  idempotency_key: 'wall-1',
};

const ASKER = {
  session_id: 'session-1',
  agent: 'Claude-sessi',
  agent_title: 'demo',
  source: 'main' as const,
  project: 'demo',
  project_dir: '/demo/.git',
  turn_id: null,
};
const ID = 'ask-0000000000000000';
const NOW = '2030-01-01T00:00:00.000Z';

type Fields = Readonly<Record<string, unknown>>;

interface Reference {
  /** The golden frame that shows it in full. */
  frame: string;
  /** How a frame refers to it. */
  like: string;
  isOne: (value: Fields) => boolean;
  /** Made by the program itself: a new field is in it as soon as it is in the frames. */
  value: Fields;
}

const hasAll = (value: Fields, ...keys: string[]): boolean => keys.every((key) => key in value);

export const REFERENCES: readonly Reference[] = [
  {
    frame: 'sidecar/hivemind-ask',
    like: 'as in hivemind-ask',
    isOne: (value) => hasAll(value, 'ask_id', 'status', 'allow_free_text', 'collected_at'),
    value: { ...listed(newPrompt(FULL_QUESTION, ASKER, ID, NOW)), mine: true },
  },
];

const same = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other);

/** The differences from a reference: the id, changed fields, and the names of missing fields. */
function difference(value: Fields, reference: Fields, like: string): Fields {
  const missing = Object.keys(reference).filter((key) => !(key in value));
  const own = Object.entries(value).filter(
    ([key, item]) => key === 'ask_id' || !(key in reference && same(item, reference[key])),
  );
  return { '…': like, ...(missing.length === 0 ? {} : { without: missing }), ...Object.fromEntries(own) };
}

/** A frame in which each prompt is what differs from its reference. Both are normalized as the frame is. */
export function shortened(frame: unknown, normalize: (value: unknown) => unknown): unknown {
  const references = REFERENCES.map((one) => ({ ...one, value: normalize(one.value) as Fields }));
  const walk = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(walk);
    if (value === null || typeof value !== 'object') return value;
    const fields = value as Fields;
    const like = references.find(({ isOne }) => isOne(fields));
    if (like !== undefined) return difference(fields, like.value, like.like);
    return Object.fromEntries(Object.entries(fields).map(([key, item]) => [key, walk(item)]));
  };
  return walk(frame);
}

/** A shortened frame as it was: what a reader other than a person needs. `full` is the frame of a reference. */
export function lengthened<T>(frame: T, full: (frame: string) => Fields): T {
  const walk = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(walk);
    if (value === null || typeof value !== 'object') return value;
    const { '…': like, without = [], ...own } = value as Fields;
    const reference = REFERENCES.find((one) => one.like === like);
    if (reference !== undefined) {
      const kept = Object.entries(full(reference.frame)).filter(
        ([key]) => !(without as string[]).includes(key),
      );
      return { ...Object.fromEntries(kept), ...own };
    }
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, walk(item)]));
  };
  return walk(frame) as T;
}
