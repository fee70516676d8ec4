/**
 * One requirement of a source document and the test that holds Hive to it. The record is the metadata of
 * the test, and docs/internals/specification.md is written from these records (scripts/specification.mjs).
 */
import { it } from 'vitest';

interface Told {
  /** `DDD-NN` for a document (documents.ts); `card-N` for the design card. */
  id: string;
  /** What is required, in our own words. */
  title: string;
  /** What the source says, briefly: a name, a phrase, a paraphrase. */
  source: string;
  /** Where a person finds it: MCP tools, commands, JSON-RPC methods, Emacs commands, hooks, pages. No source files. */
  lives: readonly string[];
}

/** It works as written, or differs on purpose; then the test asserts the difference, and `because` says why. */
type Verdict = { verdict: 'works'; because?: never } | { verdict: 'better' | 'neutral'; because: string };

export type Requirement = Told & Verdict;

declare module 'vitest' {
  interface TaskMeta {
    requirement?: Requirement;
  }
}

export function requirement(record: Requirement, proof: () => Promise<void> | void, timeout?: number): void {
  const options = { meta: { requirement: record }, ...(timeout === undefined ? {} : { timeout }) };
  it(`${record.id} ${record.title}`, options, proof);
}
