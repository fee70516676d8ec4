/**
 * Sources: where a session runs, and how it is labelled wherever it is named. Pure. What speaks for which
 * source stands in one table, docs/sources.md; this is that table as code.
 */

/** The person's own conversation; a session in the background, that nobody watches; an interactive fork. */
export type Source = 'main' | 'bg' | 'fork';

export const SOURCES: readonly Source[] = ['main', 'bg', 'fork'];

/** Everything that may speak for a source. What is missing says nothing. */
export interface SourceEvidence {
  /** What the human set in the session list: nothing else counts then. */
  corrected?: Source | null | undefined;
  /** What the session is known as, as long as it goes on. */
  standing?: Source | null | undefined;
  /** What an adapter has found out from the evidence below. */
  told?: Source | null | undefined;
  /** `hive mcp --source`. */
  option?: Source | null | undefined;
  /** `HIVE_SOURCE`; anything but a source says nothing. */
  variable?: string | undefined;
  /** SessionStart with `source: fork`. */
  forked?: boolean | undefined;
  /** A subagent that its parent was told runs in the background. */
  backgrounded?: boolean | undefined;
  /** `CLAUDE_CODE_ENTRYPOINT`: only `cli` is the terminal program. */
  entrypoint?: string | undefined;
  /** `CLAUDE_CODE_SESSION_ATTENDED`: `1` where a person sits at the terminal. */
  attended?: string | undefined;
}

/** Where a session runs: of all that speaks, background wins over fork and fork over main; silence is main. */
export function decideSource(evidence: SourceEvidence): Source {
  const { corrected, standing, told, option, forked, backgrounded } = evidence;
  if (corrected !== null && corrected !== undefined) return corrected;
  const variable = sourceNamed(evidence.variable);
  // An entry point is only a guess: whoever configured a source outright knows better, an editor's own agent say.
  const guessed = option === null || option === undefined ? variable === null && isHeadless(evidence) : false;
  const said = [standing, told, option, variable];
  if (said.includes('bg') || backgrounded === true || guessed) return 'bg';
  return said.includes('fork') || forked === true ? 'fork' : 'main';
}

/** The evidence that an environment holds. */
export function sourceEvidence(env: Readonly<Record<string, string | undefined>>): SourceEvidence {
  return {
    variable: env['HIVE_SOURCE'],
    entrypoint: env['CLAUDE_CODE_ENTRYPOINT'],
    attended: env['CLAUDE_CODE_SESSION_ATTENDED'],
  };
}

function sourceNamed(name: string | undefined): Source | null {
  return SOURCES.find((source) => source === name) ?? null;
}

function isHeadless({ entrypoint, attended }: SourceEvidence): boolean {
  return entrypoint !== undefined && entrypoint !== 'cli' && attended !== '1';
}

/**
 * How a source is labelled wherever an agent is named; main needs no label. Whatever shows a source asks this
 * function, as in Emacs `hive-text-source' is the only one.
 */
export function sourceLabel(source: Source): 'bg' | 'fork' | null {
  return source === 'main' ? null : source;
}

/** The label before an agent's name: in popups, echo lines, notices, lists and the history. */
export function sourcePrefix(source: Source): string {
  const label = sourceLabel(source);
  return label === null ? '' : `[${label}] `;
}

/** An agent as sentences to the human name it. */
export function labelled({ handle, source }: { handle: string; source: Source }): string {
  return `${sourcePrefix(source)}${handle}`;
}
