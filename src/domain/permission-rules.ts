/**
 * Permission rules: the human's decisions to allow or deny something without being asked. Rules answer permissions only, never
 * questions or plans; each use is an event. Because calls come from agents, an allowing rule is matched narrowly: word by word,
 * in the one argument that it is about. Anything that is not understood is not allowed (allowed-commands.ts,
 * places.ts). A denying rule is matched broadly (denied-texts.ts). Pure: the caller resolves paths.
 */

import {
  beginPlainly,
  commandsWithInput,
  hasStar,
  isCommandAllowed,
  programWithOpenCode,
  runsFromFolder,
} from './allowed-commands.ts';
import { deniableTexts, deniedPatterns, filesInCommand } from './denied-texts.ts';
import type { HookTool } from './hooks.ts';
import { objectIn, objectsIn, textIn } from './json.ts';
import { fill, fits } from './patterns.ts';
import { atHome, isPathAllowed, type Place } from './places.ts';
import { isRemote, type Session } from './sessions.ts';
import { shellParts } from './shell-words.ts';
import { SOURCES, type Source } from './sources.ts';

/** One rule that the human wrote. */
export interface PermissionRule {
  /** Its name in the event log. */
  name: string;
  decision: 'allow' | 'deny';
  /** A tool's name; `*` stands for any characters. */
  tool: string;
  /** The pattern for the command, the file or the address; null: any arguments that Hive understands for this tool. */
  input: string | null;
  /** The directory of the project; a denying rule may also give its short name. */
  project: string | null;
  source: Source | null;
  /** The other machines that it covers, `token:NAME` with stars. Null: none for an allowing rule, all for a denying one. */
  machine: string | null;
  /** The note for the denied agent. */
  note: string | null;
  /** The day (UTC) at whose beginning the rule expires, such as `2027-03-31`; null: never. */
  expires: string | null;
  /** Its index in the list that contains it, from 0. */
  index: number;
}

/**
 * Reads rules from the content of a file or a preference: a list, or an object with a list `rules`. Rules with a problem are
 * left out.
 */
export function readRules(value: unknown, where: string): { rules: PermissionRule[]; problems: string[] } {
  const list = Array.isArray(value) ? value : objectIn(value)?.['rules'];
  if (!Array.isArray(list)) return { rules: [], problems: [`${where} contains no list of rules.`] };
  const problems: string[] = [];
  const rules = list.flatMap((item, index): PermissionRule[] => {
    const [raw] = objectsIn([item]);
    const problem = raw === undefined ? 'is not an object' : problemOf(raw);
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
        expires: textIn(raw, 'expires'),
        index,
      },
    ];
  });
  return { rules, problems };
}

const FIELDS = new Set([
  'name',
  'decision',
  'tool',
  'input',
  'project',
  'source',
  'machine',
  'note',
  'expires',
]);

/** The problem of a rule; null if it has none. A rule that is only partly understood might do less than intended. */
function problemOf(raw: Readonly<Record<string, unknown>>): string | null {
  if (raw['decision'] !== 'allow' && raw['decision'] !== 'deny') return 'says neither allow nor deny';
  const tool = textIn(raw, 'tool');
  if (tool === null) return 'names no tool';
  // Claude Code's settings look like this, but no tool has such a name, so the rule would never deny anything.
  if (/[()]/.test(tool)) return `has a pattern in its "tool" that belongs in its "input": ${tool},`;
  if (raw['source'] !== undefined && !SOURCES.some((source) => source === raw['source']))
    return 'names an unknown source';
  const unknown = Object.keys(raw).find((field) => !FIELDS.has(field));
  if (unknown !== undefined) return `has an unknown field "${unknown}"`;
  const wrong = Object.entries(raw).find(([, value]) => typeof value !== 'string');
  if (wrong !== undefined) return `has a value in "${wrong[0]}" that is not text`;
  const empty = Object.entries(raw).find(([, value]) => typeof value === 'string' && value.trim() === '');
  if (empty !== undefined) return `has an empty "${empty[0]}"`;
  const expires = textIn(raw, 'expires');
  if (expires !== null && !isDay(expires)) return `has an "expires" that is not a day such as 2027-03-31`;
  return raw['decision'] === 'allow' ? whyNeverAllowing(raw) : null;
}

function isDay(text: string): boolean {
  return /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(Date.parse(text));
}

/** Whether a rule has ended at this time. */
export function hasExpired({ expires }: Pick<PermissionRule, 'expires'>, now: string): boolean {
  return expires !== null && now.slice(0, expires.length) >= expires;
}

/** Why a rule could never allow what its author meant; null if it could. */
function whyNeverAllowing(raw: Readonly<Record<string, unknown>>): string | null {
  const project = textIn(raw, 'project');
  if (project !== null && !/^(?:\/|[A-Za-z]:[\\/])/.test(project))
    return `allows something in the project "${project}" without its full directory`;
  const name = textIn(raw, 'tool') ?? '';
  const input = textIn(raw, 'input');
  if (input === null) return null;
  const isOpen = name.includes('*');
  const kinds = [...TOOLS].flatMap(([known, { kind }]) => (fits(name, known) ? kind : []));
  if (kinds.length === 0 && !isOpen)
    return `has an "input", and Hive does not know which argument of ${name} that is`;
  if (!kinds.includes('command') || !input.includes('*')) return null;
  const parts = shellParts(input, { stars: true });
  // If the rule covers several tools, its input may be a file or an address.
  if (parts === null || (hasStar(parts) && !beginPlainly(parts)))
    return isOpen ? null : 'combines a star in its "input" with something that only a shell understands';
  const program = commandsWithInput(parts)
    .map(programWithOpenCode)
    .find((found) => found !== null);
  return program == null ? null : `has a star where ${program} may read it as a program or as code`;
}

// ---- Which rule decides ----
// The tool call is compared before any transaction, the session inside one.

/** The fields of a session that a rule checks. */
export type RuledSession = Pick<Session, 'project' | 'project_dir' | 'source' | 'machine'>;

/** The rules that match a tool call, in any session. */
export function rulesForTool(
  rules: readonly PermissionRule[],
  tool: HookTool,
  place: Place,
): PermissionRule[] {
  let denied: readonly string[] | null = null;
  let files: readonly string[] | null = null;
  const matching = rules.filter((rule) => {
    if (rule.decision === 'allow') return isAt(rule, place) && isAllowed(rule, tool, place);
    if (!fits(rule.tool.toLowerCase(), tool.name.toLowerCase())) return false;
    if (rule.input === null) return true;
    denied ??= deniableTexts(tool, place);
    // A rule for all tools may be about files, and a command names them, too.
    const isOfFiles = fits(rule.tool.toLowerCase(), 'read');
    if (isOfFiles) files ??= filesInCommand(tool, place);
    const patterns = deniedPatterns(rule.input, place);
    return denied
      .concat(isOfFiles ? (files ?? []) : [])
      .some((text) => patterns.some((pattern) => fits(pattern, text)));
  });
  // A rule that denies in a project applies to each call that runs there, even if the session belongs to another project.
  const isHere = (rule: PermissionRule): boolean => place.project_dir !== undefined && isAt(rule, place);
  return matching.map((rule) =>
    rule.decision === 'deny' && isHere(rule) ? { ...rule, project: null } : rule,
  );
}

/** Whether the directory itself, and not only the record of its session, belongs to the project of a rule. */
function isAt({ project }: PermissionRule, { project_dir }: Place): boolean {
  if (project === null || project_dir === undefined) return true;
  return isProject(project, project_dir) || isBelow(project, project_dir);
}

/** Whether a rule names this project, by its directory or its git directory. */
function isProject(project: string, project_dir: string): boolean {
  const folder = project.replace(/\/$/, '');
  return [project, folder, `${folder}/.git`].includes(project_dir);
}

/** Whether a directory without git is below this project. Inside another repository, the project would be that repository. */
function isBelow(project: string, project_dir: string): boolean {
  const folder = project.replace(/\/$/, '');
  return folder !== '' && !project_dir.endsWith('/.git') && project_dir.startsWith(`${folder}/`);
}

/** The rule that decides now, out of those that match the tool. A denying rule wins over all allowing ones. */
export function decidingRule(
  matching: readonly PermissionRule[],
  session: RuledSession,
  now: string,
): PermissionRule | null {
  const here = matching.filter((rule) => !hasExpired(rule, now) && isForSession(rule, session));
  return here.find(({ decision }) => decision === 'deny') ?? here[0] ?? null;
}

function isForSession(
  { decision, project, source, machine }: PermissionRule,
  session: RuledSession,
): boolean {
  if (!isForMachine(machine, decision, session.machine)) return false;
  if (source !== null && source !== session.source) return false;
  if (project === null) return true;
  const { project_dir } = session;
  if (isProject(project, project_dir)) return true;
  // If two projects have the same name, denying rules apply to both, but allowing rules do not.
  return decision === 'deny' && (project === session.project || isBelow(project, project_dir));
}

/** Whether a rule covers a machine. Another machine reports its own projects, so an allowing rule must name the machine. */
function isForMachine(wanted: string | null, decision: PermissionRule['decision'], machine: string): boolean {
  const remote = isRemote(machine);
  if (wanted !== null) return remote && fits(wanted, machine);
  return decision === 'deny' || !remote;
}

// ---- What a rule allows ----

/** A tool whose arguments Hive understands: the argument that a rule's `input` is about, and those that do not affect it. */
export interface KnownTool {
  kind: 'command' | 'path' | 'url' | 'text';
  field: string;
  beside: readonly string[];
}

const TOOLS: ReadonlyMap<string, KnownTool> = new Map(
  Object.entries({
    Bash: { kind: 'command', field: 'command', beside: ['description', 'timeout'] },
    // A call of an ACP agent that names no tool, by its kind. For the other kinds, each agent has its own arguments.
    execute: { kind: 'command', field: 'command', beside: ['description', 'timeout'] },
    Read: { kind: 'path', field: 'file_path', beside: ['offset', 'limit', 'pages'] },
    Write: { kind: 'path', field: 'file_path', beside: ['content'] },
    Edit: { kind: 'path', field: 'file_path', beside: ['old_string', 'new_string', 'replace_all'] },
    MultiEdit: { kind: 'path', field: 'file_path', beside: ['edits'] },
    NotebookEdit: {
      kind: 'path',
      field: 'notebook_path',
      beside: ['new_source', 'cell_id', 'cell_type', 'edit_mode'],
    },
    WebFetch: { kind: 'url', field: 'url', beside: ['prompt'] },
    WebSearch: { kind: 'text', field: 'query', beside: ['allowed_domains', 'blocked_domains'] },
  } as const),
);

/** The tool, if Hive understands its arguments; else null. */
export function toolKind(name: string): KnownTool | null {
  return TOOLS.get(name) ?? null;
}

/** In characters: nobody approves anything longer in advance. */
const LONGEST_ALLOWED = 2_000;

function isAllowed(
  { tool: pattern, input }: PermissionRule,
  { name, input: given }: HookTool,
  place: Place,
): boolean {
  if (!isToolAllowed(pattern, name)) return false;
  const tool = TOOLS.get(name);
  // A rule for a tool that Hive does not know allows it with any arguments.
  if (tool === undefined) return input === null;
  const all = objectIn(given);
  const value = all?.[tool.field];
  if (all === null || typeof value !== 'string') return false;
  if (Object.keys(all).some((key) => key !== tool.field && !tool.beside.includes(key))) return false;
  if (input === null) return true;
  if (value.length > LONGEST_ALLOWED || value.includes('\0')) return false;
  switch (tool.kind) {
    case 'command':
      // If a rule for several tools names a folder, it is about the files in it and does not allow running them.
      return !(pattern.includes('*') && runsFromFolder(input)) && isCommandAllowed(input, value, place);
    case 'path':
      return isPathAllowed(atHome(input, place).split('*'), value, place);
    case 'url':
      return isUrlAllowed(input, value);
    case 'text':
      return fits(input, value);
  }
}

/**
 * Whether a rule's tool pattern allows a tool. `mcp__github__*` covers no tool of the server `github__evil`, and not
 * `mcp__github___x`, which may belong to `github_`.
 */
function isToolAllowed(pattern: string, name: string): boolean {
  const filled = fill(pattern.split('*'), name);
  if (filled === null) return false;
  if (filled.length === 0) return true;
  if (!/^mcp__.+__/.test(pattern)) return true;
  return !name.includes('___') && filled.every((part) => !part.includes('__'));
}

// ---- Addresses ----

const ADDRESS = /^(https?:\/\/)([^/?#]*)(.*)$/s;

/**
 * Whether a rule allows an address. In a host name, a star matches whole labels at its beginning; after the host, anything
 * without `..`.
 */
function isUrlAllowed(pattern: string, url: string): boolean {
  if (pattern === url) return true;
  const [, scheme, host = '', rest = ''] = ADDRESS.exec(pattern) ?? [];
  const [, otherScheme, otherHost = '', otherRest = ''] = ADDRESS.exec(url) ?? [];
  if (scheme === undefined || scheme !== otherScheme) return false;
  // No user and password, and nothing that programs parse differently.
  if (!/^[A-Za-z0-9.-]+(?::\d+)?$/.test(otherHost) || !/^[\x21-\x7e]*$/.test(otherRest)) return false;
  if (/\\|%(?:2e|2f|5c|00)|(?:^|\/)\.\.?(?:[/?#;]|$)/i.test(otherRest)) return false;
  // `https://example.org*` matches that host, with anything after it.
  const [plain, tail] =
    host.endsWith('*') && host !== '*' && rest === '' ? [host.slice(0, -1), '*'] : [host, rest];
  if (tail === '*' && otherRest !== '' && !/^[/?#]/.test(otherRest)) return false;
  return isHostAllowed(plain, otherHost) && fits(tail, otherRest);
}

function isHostAllowed(pattern: string, host: string): boolean {
  if (!pattern.includes('*')) return pattern.toLowerCase() === host.toLowerCase();
  if (pattern === '*') return true;
  const fixed = pattern.slice(1);
  return fixed.startsWith('.') && !fixed.includes('*') && host.toLowerCase().endsWith(fixed.toLowerCase());
}
