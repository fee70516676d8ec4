/**
 * Rules that the human wrote: what is allowed or denied without being asked. They answer permissions only,
 * never a question or a plan; each use stands in the log. What they are compared with comes from an agent,
 * so an allowing rule is read narrowly. Pure.
 */
import { mainText, objectIn, objectsIn, textIn } from './dialogs.ts';
import type { HookTool } from './hooks.ts';
import { isRemote, type Session } from './sessions.ts';
import { SOURCES, type Source } from './sources.ts';

export interface PermissionRule {
  /** How the log names it. */
  name: string;
  decision: 'allow' | 'deny';
  /** A tool's name; `*` stands for any characters. */
  tool: string;
  /** What the command, the file or the address must look like; null: anything. */
  input: string | null;
  /** Short name or directory of the project. */
  project: string | null;
  source: Source | null;
  /** Of which other machines, `token:NAME` with stars; null: of none where it allows, of all where it denies. */
  machine: string | null;
  /** What a denied agent reads. */
  note: string | null;
}

/** Reads rules as they stand in a file or a preference: a list, or an object with a list `rules`. */
export function readRules(value: unknown, where: string): { rules: PermissionRule[]; problems: string[] } {
  const list = Array.isArray(value) ? value : objectIn(value)?.['rules'];
  if (!Array.isArray(list)) return { rules: [], problems: [`${where} holds no list of rules.`] };
  const problems: string[] = [];
  const rules = list.flatMap((item, index): PermissionRule[] => {
    const [raw] = objectsIn([item]);
    const problem = raw === undefined ? 'is no object' : problemOf(raw);
    if (raw === undefined || problem !== null) {
      problems.push(`Rule ${index + 1} of ${where} ${problem} and is not used.`);
      return [];
    }
    return [
      {
        name: textIn(raw, 'name') ?? `rule ${index + 1} of ${where}`,
        decision: raw['decision'] === 'allow' ? 'allow' : 'deny',
        tool: textIn(raw, 'tool') ?? '*',
        input: textIn(raw, 'input'),
        project: textIn(raw, 'project'),
        source: SOURCES.find((source) => source === raw['source']) ?? null,
        machine: textIn(raw, 'machine'),
        note: textIn(raw, 'note'),
      },
    ];
  });
  return { rules, problems };
}

const FIELDS = new Set(['name', 'decision', 'tool', 'input', 'project', 'source', 'machine', 'note']);

/** A rule that is not understood whole might mean less than it would be taken for. */
function problemOf(raw: Readonly<Record<string, unknown>>): string | null {
  if (raw['decision'] !== 'allow' && raw['decision'] !== 'deny') return 'says neither allow nor deny';
  if (textIn(raw, 'tool') === null) return 'names no tool';
  if (raw['source'] !== undefined && !SOURCES.some((source) => source === raw['source']))
    return 'names an unknown source';
  const unknown = Object.keys(raw).find((field) => !FIELDS.has(field));
  if (unknown !== undefined) return `has an unknown field "${unknown}"`;
  const wrong = Object.entries(raw).find(([, value]) => typeof value !== 'string');
  return wrong === undefined ? null : `has something else than a text in "${wrong[0]}"`;
}

/** What a rule sees of a session. */
type RuledSession = Pick<Session, 'project' | 'project_dir' | 'source' | 'machine'>;

/** The rule that answers, if any: one that denies wins over all that allow. */
export function matchingRule(
  rules: readonly PermissionRule[],
  tool: HookTool,
  session: RuledSession,
): PermissionRule | null {
  const matching = rules.filter((rule) => matches(rule, tool, session));
  return matching.find(({ decision }) => decision === 'deny') ?? matching[0] ?? null;
}

function matches(
  { decision, tool: pattern, input, project, source, machine }: PermissionRule,
  tool: HookTool,
  session: RuledSession,
): boolean {
  if (!isForMachine(machine, decision, session.machine)) return false;
  if (source !== null && source !== session.source) return false;
  if (project !== null && project !== session.project && project !== session.project_dir) return false;
  if (!matchesPattern(pattern, tool.name, ANYTHING)) return false;
  if (input === null) return true;
  const text = mainText(tool);
  if (decision === 'deny') return matchesPattern(input, text, ANYTHING);
  return text.length <= LONGEST_ALLOWED && matchesPattern(input, text, ONE_COMMAND);
}

/** What another machine tells of its projects is its own word: what is allowed there says so. */
function isForMachine(wanted: string | null, decision: PermissionRule['decision'], machine: string): boolean {
  const remote = isRemote(machine);
  if (wanted !== null) return remote && matchesPattern(wanted, machine, ANYTHING);
  return decision === 'deny' || !remote;
}

const ANYTHING = '[^]*?';
/** `npm test *` must not allow `npm test; rm -rf ~`: what a star stands for ends no command and begins none. */
const ONE_COMMAND = '[^;&|<>`$(){}\\n\\r\\\\]*?';
/** Nor may a path that a star stands for climb out of its folder. */
const CLIMBS = /(?:^|[/\s"'=])\.\.(?:[/\s"']|$)/;
/** A pattern of several stars takes time with the length of what an agent wrote. */
const LONGEST_ALLOWED = 2_000;

/** Whole text against a pattern whose stars stand for what `run` takes. */
function matchesPattern(pattern: string, text: string, run: string): boolean {
  const parts = pattern.split(/\*+/).map((part) => part.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&'));
  const found = new RegExp(`^${parts.join(`(${run})`)}$`).exec(text);
  if (found === null) return false;
  return run === ANYTHING || found.slice(1).every((piece) => !CLIMBS.test(piece));
}
