/**
 * Requirements of a source document and the test that holds Hive to them: one, or several that are parts of one scene. The
 * records are the metadata of the test, and docs/internals/specification.md is written from them (scripts/specification.mjs).
 */
import { it } from 'vitest';

interface Told {
  /** `DDD-NN` for a document (documents.ts); `card-N` for the design card. */
  id: string;
  /** The requirement, in our own words. */
  title: string;
  /** The words of the source, briefly: a name, a phrase, a paraphrase. */
  source: string;
  /** Where a person finds it: MCP tools, commands, JSON-RPC methods, Emacs commands, hooks, pages. No source files. */
  lives: readonly string[];
}

/** It works as written, or differs on purpose; then the test asserts the difference, and `because` says why. */
type Verdict = { verdict: 'works'; because?: never } | { verdict: 'better' | 'neutral'; because: string };

export type Requirement = Told & Verdict;

declare module 'vitest' {
  interface TaskMeta {
    requirements?: readonly Requirement[];
  }
}

export function requirement(
  record: Requirement | readonly [Requirement, ...Requirement[]],
  proof: () => Promise<void> | void,
  timeout?: number,
): void {
  const requirements: readonly Requirement[] = 'id' in record ? [record] : record;
  const options = { meta: { requirements }, ...(timeout === undefined ? {} : { timeout }) };
  it(requirements.map(({ id, title }) => `${id} ${title}`).join(' '), options, proof);
}
