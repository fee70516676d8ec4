/**
 * Permissions: what is approved is what was displayed (invariant 13). A desk or popup that displays a permission keeps the digest
 * of its whole text and returns it with an answer that may allow something. The hook that prints the answer compares the digest
 * with the call that is about to run. Pure.
 */
import { objectIn } from './json.ts';
import { isPlainRefusal, type Prompt, type PromptAnswer } from './prompts.ts';

/** Whether an answer may allow something. In a dialog, free text only denies. */
export function mayAllow(
  prompt: Pick<Prompt, 'kind' | 'dialog' | 'options'>,
  { selected }: Pick<PromptAnswer, 'selected'>,
): boolean {
  if (prompt.kind !== 'permission') return false;
  return selected.length === 0
    ? !prompt.dialog
    : !selected.every((label) => refusals(prompt).includes(label));
}

/**
 * The labels of a permission that refuse; any other label may allow something. The answer to a dialog is compared with the call
 * before it is sent. A permission that an agent itself asks has no such check, so the stored mark `refuses` alone is not enough
 * there: anybody may write a row.
 */
export function refusals({ dialog, options }: Pick<Prompt, 'dialog' | 'options'>): string[] {
  return options
    .filter(({ label, refuses }) => refuses === true && (dialog || isPlainRefusal(label)))
    .map(({ label }) => label);
}

/** The lines that a person must have read before they allow it. */
export function permissionLines({
  question,
  context,
  options,
  notes,
}: Pick<Prompt, 'question' | 'context' | 'options' | 'notes'>): string[] {
  const choices = options.map(({ label, description }) =>
    description === null ? `[${label}]` : `[${label}] ${description}`,
  );
  const added = notes.map(({ text }) => `Added by the agent: ${text}`);
  return [question, ...added, context ?? '', ...choices].flatMap((text) =>
    text === '' ? [] : text.split('\n'),
  );
}

/** The digest of a permission's displayed text and of the tool's input, which `fingerprint` represents. */
export function permissionDigest(prompt: Displayed): string {
  return digestOf(displayed(prompt));
}

/** The fields that a permission displays, and the fingerprint of its call. */
export type Displayed = Pick<Prompt, 'kind' | 'question' | 'context' | 'options' | 'notes' | 'fingerprint'>;

function displayed({ kind, question, context, options, notes, fingerprint }: Displayed): unknown {
  return [kind, question, context, options, notes.map(({ text }) => text), fingerprint];
}

/** The text whose SHA-256 in hexadecimal is `permissionDigest`. It is separate because a browser has its own hash function. */
export function displayedText(prompt: Displayed): string {
  return canonical(displayed(prompt));
}

/** Why this answer is not accepted, as a sentence; null when it is accepted. */
export function refusalOfUnseen(
  prompt: Prompt,
  answer: Pick<PromptAnswer, 'selected' | 'decision'>,
  displayed_digest: string | null,
): string | null {
  if (!mayAllow(prompt, answer) || displayed_digest === permissionDigest(prompt)) return null;
  const why =
    displayed_digest === null
      ? 'nothing shows that its whole text was displayed first'
      : 'what was displayed is not what it asks';
  return `The permission ${prompt.ask_id} is not allowed: ${why}. Open it in full, read it to its end, and answer it there. (A desk that never asks for this needs the Emacs package of this version.)`;
}

/** SHA-256 of the value as JSON with sorted keys, so that equal values have equal digests. */
export function digestOf(value: unknown): string {
  return sha256(canonical(value));
}

function sha256(text: string): string {
  // Few hooks meet a permission, and loading node:crypto takes a fifth of a bare start.
  const { createHash } = process.getBuiltinModule('node:crypto');
  return createHash('sha256').update(text).digest('hex');
}

/**
 * A digest of the input of a call. A long text is replaced by its own digest, because JSON escapes texts character by character
 * and an agent may send a megabyte.
 */
export function digestOfCall(value: unknown): string {
  return sha256(canonical(value, (text) => (text.length <= LONG_TEXT ? `=${text}` : `#${sha256(text)}`)));
}

const LONG_TEXT = 1_000;

function canonical(value: unknown, textOf = (text: string): string => text): string {
  return JSON.stringify(value, (_key, item: unknown) => {
    if (typeof item === 'string') return textOf(item);
    return objectIn(item) !== null
      ? Object.fromEntries(Object.entries(item as object).sort(([a], [b]) => (a < b ? -1 : 1)))
      : item;
  });
}
