/**
 * Permission rules: what the human has decided to allow or deny without being asked. Rules answer permissions only,
 * never questions or plans; each use is an event. The text they are matched against comes from an agent, so an
 * allowing rule is matched narrowly. Pure.
 */
import { mainText, objectIn, objectsIn, textIn } from './dialogs.ts';
import type { HookTool } from './hooks.ts';
import { isRemote, type Session } from './sessions.ts';
import { SOURCES, type Source } from './sources.ts';

/** One rule of the human's. */
export interface PermissionRule {
  /** How the event log names it. */
  name: string;
  decision: 'allow' | 'deny';
  /** A tool's name; `*` stands for any characters. */
  tool: string;
  /** What the command, the file or the address must match; null: anything. */
  input: string | null;
  /** Short name or directory of the project. */
  project: string | null;
  source: Source | null;
  /** Which other machines it covers, `token:NAME` with stars. Null: none for an allowing rule, all for a denying one. */
  machine: string | null;
  /** What the denied agent reads. */
  note: string | null;
}

/** Reads rules from the content of a file or a preference: a list, or an object with a list `rules`. A rule with a problem is left out. */
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

/** The fields of a rule, each with the words that it takes; null: any text. Emacs offers the same. */
export const RULE_FIELDS: Readonly<Record<keyof PermissionRule, readonly string[] | null>> = {
  decision: ['allow', 'deny'],
  tool: null,
  input: null,
  project: null,
  source: SOURCES,
  machine: null,
  name: null,
  note: null,
};

/** What is wrong with a rule; null when nothing is. A rule that is only partly understood might mean less than intended. */
function problemOf(raw: Readonly<Record<string, unknown>>): string | null {
  if (raw['decision'] !== 'allow' && raw['decision'] !== 'deny') return 'says neither allow nor deny';
  if (textIn(raw, 'tool') === null) return 'names no tool';
  if (raw['source'] !== undefined && !SOURCES.some((source) => source === raw['source']))
    return 'names an unknown source';
  const unknown = Object.keys(raw).find((field) => !Object.hasOwn(RULE_FIELDS, field));
  if (unknown !== undefined) return `has an unknown field "${unknown}"`;
  const wrong = Object.entries(raw).find(([, value]) => typeof value !== 'string');
  return wrong === undefined ? null : `has a value in "${wrong[0]}" that is not text`;
}

/** What a rule looks at in a session. */
type RuledSession = Pick<Session, 'project' | 'project_dir' | 'source' | 'machine'>;

/** The rule that decides, if any: a denying rule wins over all allowing ones. */
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

/** Another machine reports its projects itself, so a rule that allows something there must name the machine. */
function isForMachine(wanted: string | null, decision: PermissionRule['decision'], machine: string): boolean {
  const remote = isRemote(machine);
  if (wanted !== null) return remote && matchesPattern(wanted, machine, ANYTHING);
  return decision === 'deny' || !remote;
}

const ANYTHING = '[^]*?';
/** `npm test *` must not allow `npm test; rm -rf ~`: a star matches nothing that ends a command or begins one. */
const ONE_COMMAND = '[^;&|<>`$(){}\\n\\r\\\\]*?';
/** Nor may a path that a star matches leave its folder. */
const CLIMBS = /(?:^|[/\s"'=])\.\.(?:[/\s"']|$)/;
/** Matching several stars takes time that grows with the length of the agent's text. */
const LONGEST_ALLOWED = 2_000;

/** Matches the whole text against a pattern; each star matches what `run` does. */
function matchesPattern(pattern: string, text: string, run: string): boolean {
  const parts = pattern.split(/\*+/).map((part) => part.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&'));
  const found = new RegExp(`^${parts.join(`(${run})`)}$`).exec(text);
  if (found === null) return false;
  return run === ANYTHING || found.slice(1).every((piece) => !CLIMBS.test(piece));
}
