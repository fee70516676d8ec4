/**
 * Sources: where a session runs, and how it is labelled wherever it is named. Pure. This implements the table of evidence in
 * docs/sources.md.
 */

/** `main`: the person's own conversation. `bg`: a background session, which nobody watches. `fork`: an interactive fork. */
export type Source = 'main' | 'bg' | 'fork';

export const SOURCES: readonly Source[] = ['main', 'bg', 'fork'];

/** All evidence for a source. A missing field is no evidence. */
export interface SourceEvidence {
  /** The human's choice in the session list; if set, nothing else counts. */
  corrected?: Source | null | undefined;
  /** The source of the session so far, if the session continues. */
  current?: Source | null | undefined;
  /** An adapter's conclusion from the evidence below. */
  reported?: Source | null | undefined;
  /** `HIVE_SOURCE`; a word that is not a source is ignored. */
  variable?: string | undefined;
  /** SessionStart with `source: fork`. */
  forked?: boolean | undefined;
  /** A session in the background started it. */
  backgrounded?: boolean | undefined;
  /** `CLAUDE_CODE_ENTRYPOINT`: only `cli` is the terminal program, which may run in the background. */
  entrypoint?: string | undefined;
  /** `CLAUDE_CODE_SESSION_ATTENDED`: `1` if a person sits at the terminal, or in an editor. */
  attended?: string | undefined;
}

/** Where a session runs: background wins over fork, and fork over main. Without evidence it is main. */
export function decideSource(evidence: SourceEvidence): Source {
  const { corrected, current, reported, forked, backgrounded } = evidence;
  if (corrected !== null && corrected !== undefined) return corrected;
  const variable = sourceNamed(evidence.variable);
  // The entry point is only a guess, so an explicit setting wins, such as the one of an editor for its agent.
  const guessed = variable === null && isHeadless(evidence);
  const sources = [current, reported, variable];
  if (sources.includes('bg') || backgrounded === true || guessed) return 'bg';
  return sources.includes('fork') || forked === true ? 'fork' : 'main';
}

/** The variables of a process. */
export type Environment = Readonly<Record<string, string | undefined>>;

export function sourceEvidence(env: Environment): SourceEvidence {
  return {
    variable: env['HIVE_SOURCE'],
    entrypoint: env['CLAUDE_CODE_ENTRYPOINT'],
    attended: attendedIn(env),
  };
}

/** The editor in which a person sees the agent, as set by `hive acp` and the packages of editors; null outside of editors. */
export function editorIn(env: Environment): string | null {
  return env['HIVE_EDITOR'] || null;
}

/** Whether a person sees the agent, `1` or `0`. An editor starts its agent without a terminal, but shows its dialogs. */
export function attendedIn(env: Environment): string | undefined {
  return editorIn(env) === null ? env['CLAUDE_CODE_SESSION_ATTENDED'] : '1';
}

function sourceNamed(name: string | undefined): Source | null {
  return SOURCES.find((source) => source === name) ?? null;
}

function isHeadless({ entrypoint, attended }: SourceEvidence): boolean {
  if (entrypoint === 'cli') return attended === '0';
  return entrypoint !== undefined && attended !== '1';
}

/** Whether Claude Code runs its terminal program in the background (`claude --bg`, `/bg`): nobody watches it, but it idles. */
export function idlesUnwatched(env: Environment): boolean {
  return env['CLAUDE_CODE_ENTRYPOINT'] === 'cli' && attendedIn(env) === '0';
}

/**
 * How a source is labelled wherever an agent is named; main needs no label. Everything that shows a source calls this
 * function, as everything in Emacs calls `hive-text-source-label'.
 */
export function sourceLabel(source: Source): 'bg' | 'fork' | null {
  return source === 'main' ? null : source;
}

/** The label before an agent's name: in popups, echo lines, notices, lists and the history. */
export function sourcePrefix(source: Source): string {
  const label = sourceLabel(source);
  return label === null ? '' : `[${label}] `;
}

/** A session, or a record that an agent sent: the fields with the agent's names. */
type Named = { handle: string; title: string } | { agent: string; agent_title: string | null };

/** A named thing of a project. */
type Placed = Named & { source: Source | null; project: string };

/** The name of an agent for people, everywhere: its title, else its handle. */
export function calledBy(one: Named): string {
  return 'handle' in one ? one.title : (one.agent_title ?? one.agent);
}

/** The project; null if the title already contains it (`shop`, `shop 2`). */
export function unsaidProject(title: string, project: string): string | null {
  const isProject =
    title === project || (title.startsWith(`${project} `) && /^\d+$/.test(title.slice(project.length + 1)));
  return isProject || project === '' ? null : project;
}

const labelOf = ({ source }: Placed): string => (source === null ? '' : sourcePrefix(source));

/** An agent in sentences to the human: `[bg] Fix the delivery date (shop)`. */
export function labelled(one: Placed): string {
  const title = calledBy(one);
  const project = unsaidProject(title, one.project);
  return `${labelOf(one)}${title}${project === null ? '' : ` (${project})`}`;
}

/** An agent in headings, with `does` after its title: `[bg] Fix the delivery date asks permission · shop`. */
export function headedBy(one: Placed, does = ''): string {
  const title = calledBy(one);
  const project = unsaidProject(title, one.project);
  return `${labelOf(one)}${title}${does}${project === null ? '' : ` · ${project}`}`;
}
