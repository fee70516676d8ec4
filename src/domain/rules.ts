/**
 * Making rules: which rule a permission suggests, what a rule would have answered in the past, and which rules the history
 * suggests. Only permission-rules.ts decides whether a rule matches a call. Nothing in this file permits anything: a rule counts
 * once it is in the human's own file. Pure: the caller resolves paths.
 */
import { beginPlainly, commandsOf, linesWithout } from './allowed-commands.ts';
import {
  decidingRule,
  type PermissionRule,
  type RuledSession,
  readRules,
  rulesForTool,
  toolKind,
} from './permission-rules.ts';
import { digestOf, mayAllow } from './permissions.ts';
import type { Place } from './places.ts';
import type { Prompt } from './prompts.ts';
import { type ShellPart, type ShellWord, shellParts } from './shell-words.ts';
import { type ShownCall, shownCall } from './shown-calls.ts';
import { excerpt } from './text.ts';
import { DAY_MS, timeAfter } from './times.ts';

/** A rule that is not written yet. A missing field is null in a `PermissionRule`. */
export type RuleDraft = Pick<PermissionRule, 'decision' | 'tool' | 'input' | 'project'> &
  Partial<Pick<PermissionRule, 'source' | 'machine' | 'note' | 'expires' | 'name'>>;

/** For how many days a rule is valid by default, and how many days of history are read. */
export const RULE_DAYS = 90;

// ---- The past ----

/** A permission of a client's dialog, as it is stored. */
export type PastPermission = Pick<
  Prompt,
  | 'ask_id'
  | 'created_at'
  | 'agent'
  | 'source'
  | 'project'
  | 'project_dir'
  | 'kind'
  | 'dialog'
  | 'fingerprint'
  | 'context'
  | 'status'
  | 'options'
  | 'selected'
  | 'cancel_reason'
  | 'by'
  | 'via'
> &
  Pick<RuledSession, 'machine'>;

/** The outcome of a permission. `elsewhere`: answered in the agent's own terminal, so the answer is unknown. */
export type Outcome = 'allowed' | 'denied' | 'elsewhere' | 'unanswered';

/** A call that an agent once wanted to make, and its outcome. */
export interface PastCall extends ShownCall, RuledSession {
  ask_id: string;
  at: string;
  agent: string;
  outcome: Outcome;
  /** The rule that answered; null: no rule did. */
  rule: string | null;
}

/** The call of a stored permission; null where it cannot be known. */
export function pastCall(permission: PastPermission): PastCall | null {
  const shown = shownCall(permission);
  if (shown === null) return null;
  const { ask_id, created_at: at, agent, source, project, project_dir, machine, by, via } = permission;
  return {
    ...shown,
    ask_id,
    at,
    agent,
    source,
    project,
    project_dir,
    machine,
    outcome: outcomeOf(permission),
    rule: via === 'rule' ? by : null,
  };
}

function outcomeOf(permission: PastPermission): Outcome {
  if (permission.status === 'responded') return mayAllow(permission, permission) ? 'allowed' : 'denied';
  return permission.cancel_reason === 'answered_elsewhere' ? 'elsewhere' : 'unanswered';
}

/** Where a past call would run now. */
export type PlaceOf = (call: PastCall) => Place;

// ---- Trying a rule ----

/** The calls that a rule would have answered, out of those that no rule answered. */
export interface Trial {
  /** How many of these calls the human allowed, denied, answered in the agent's terminal, or did not answer. */
  allowed: number;
  denied: number;
  elsewhere: number;
  unanswered: number;
  /** How many calls were answered by other rules. */
  by_rules: number;
  /** Decisions of the human that contradict the rule, newest first. */
  counter_examples: PastCall[];
  /** Some of the calls that the rule would have answered, newest first, each text once. */
  examples: PastCall[];
}

const MOST_EXAMPLES = 10;

/** Tries a rule on past calls, oldest first. */
export function tryRule(
  rule: PermissionRule,
  calls: readonly PastCall[],
  placeOf: PlaceOf,
  now: string,
): Trial {
  const matched = calls.filter((call) => decides(rule, call, placeOf(call), now)).reverse();
  const own = matched.filter((call) => call.rule === null);
  const count = (outcome: Outcome): number => own.filter((call) => call.outcome === outcome).length;
  const against: Outcome = rule.decision === 'allow' ? 'denied' : 'allowed';
  return {
    allowed: count('allowed'),
    denied: count('denied'),
    elsewhere: count('elsewhere'),
    unanswered: count('unanswered'),
    by_rules: matched.length - own.length,
    counter_examples: own.filter(({ outcome }) => outcome === against).slice(0, MOST_EXAMPLES),
    examples: eachOnce(own.filter(({ outcome }) => outcome !== against)).slice(0, MOST_EXAMPLES),
  };
}

function eachOnce(calls: readonly PastCall[]): PastCall[] {
  const seen = new Set<string>();
  return calls.filter((call) => {
    const text = textOfCall(call);
    return !seen.has(text) && seen.add(text);
  });
}

/** Whether this rule alone would answer this call. */
function decides(rule: PermissionRule, call: PastCall, place: Place, now: string): boolean {
  return decidingRule(rulesForTool([rule], call.tool, place), call, now) !== null;
}

/** The subject of a call, on one line: its command, its file or its address. */
export function textOfCall({ tool }: Pick<PastCall, 'tool'>): string {
  const input = tool.input as Readonly<Record<string, unknown>>;
  const field = toolKind(tool.name)?.field;
  const value = field === undefined ? undefined : input[field];
  return typeof value === 'string' ? value : tool.name;
}

// ---- The rules that one call suggests ----

/**
 * The rules that would allow this call in its project, the narrowest first. Each of them does allow it. Empty if no
 * rule can, as for a command that only a shell understands.
 */
export function draftsFor(call: PastCall, place: Place, now: string): RuleDraft[] {
  const { tool } = call;
  const known = toolKind(tool.name);
  const value = textOfCall(call);
  const inputs =
    known === null
      ? [null]
      : known.kind === 'command'
        ? [value, openCommand(value, place)]
        : known.kind === 'path'
          ? [place.resolve(value), ...foldersFor(value, place)]
          : known.kind === 'url'
            ? [value, openAddress(value)]
            : [value, null];
  const project = projectOf(call, place);
  const drafts = [...new Set(inputs)]
    .filter((input) => known === null || known.kind === 'text' || input !== null)
    .map((input): RuleDraft => ({ decision: 'allow', tool: tool.name, input, project }));
  return drafts.filter((draft) => {
    const { rules, problems } = readDraft(draft);
    return problems.length === 0 && rules.every((rule) => decides(rule, call, place, now));
  });
}

/** The directory that a rule names for the project of a call. */
function projectOf({ project_dir }: PastCall, place: Place): string | null {
  const found = (place.project_dir ?? project_dir).replace(/\/\.git$/, '');
  return found.startsWith('/') ? found : null;
}

/** A rule from its draft, with its problems. */
export function readDraft(draft: RuleDraft): { rules: PermissionRule[]; problems: string[] } {
  return readRules([writtenRule(draft)], 'what you wrote');
}

/** A rule as it is written into the human's file, without the fields that it leaves open. */
export function writtenRule(draft: RuleDraft): Record<string, string> {
  const { decision, tool, input, project, source, machine, note, expires, name } = draft;
  const all = { name, decision, tool, input, project, source, machine, note, expires };
  return Object.fromEntries(
    Object.entries(all).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  );
}

/** The default name of a rule in the log: its subject, and a number if another rule has that name. */
export function nameFor({ tool, input }: RuleDraft, taken: readonly string[]): string {
  const name = excerpt(input === null ? tool : `${tool}: ${input}`, 80);
  const isFree = (one: string): boolean => !taken.includes(one);
  if (isFree(name)) return name;
  let number = 2;
  while (!isFree(`${name} (${number})`)) number += 1;
  return `${name} (${number})`;
}

/** The id of a rule, which stays the same as long as nothing in the rule changes. */
export function ruleId(rule: PermissionRule): string {
  const { index: _, ...content } = rule;
  return digestOf(content).slice(0, 12);
}

/** The day on which a new rule expires. */
export function defaultExpiry(now: string): string {
  return timeAfter(now, RULE_DAYS * DAY_MS).slice(0, 'yyyy-mm-dd'.length);
}

// ---- Commands ----
// A star is proposed only after the beginning of a command that reads, tests or checks with any plain words. Any other command
// is proposed as it was written: `git *` would allow a push, and the effect of `./deploy *` is unknown.

const OPEN_HEADS: readonly (readonly string[])[] = (
  'ls|cat|head|tail|wc|stat|file|du|tree|diff|cmp|grep|rg|find|nl|sort|cut|echo|which|' +
  'git status|git log|git diff|git show|git blame|git ls-files|git rev-parse|git describe|git shortlog|git grep|' +
  'npm test|npm run test|npm run lint|npm run typecheck|npm run check|npm run build|npm ls|npm outdated|' +
  'pnpm test|pnpm lint|pnpm build|yarn test|yarn lint|yarn build|bun test|' +
  'vitest run|jest|tsc|eslint|biome check|prettier --check|' +
  'npx vitest run|npx jest|npx tsc|npx eslint|npx biome check|npx prettier --check|' +
  'pytest|python -m pytest|python3 -m pytest|mypy|ruff check|' +
  'go test|go vet|go build|cargo test|cargo check|cargo build|cargo clippy'
)
  .split('|')
  .map((head) => head.split(' '));

/**
 * The command with a star for plain words that may vary, and without parts that a rule with a star need not contain; null if
 * nothing can be left open.
 */
function openCommand(command: string, place: Place): string | null {
  const given = command.includes('*') ? null : shellParts(command);
  const parts = given === null ? undefined : linesWithout(given, place).at(-1);
  if (parts === undefined) return null;
  let text = '';
  let before: string | null = null;
  for (const part of parts) {
    const next = before !== null && /[<>]/.test(before) ? harmlessTarget(part, before) : openPart(part);
    if (next === null || part.operator === '\n' || part.operator === ';;') return null;
    text += `${next}${operatorText(part.operator)}`;
    before = part.operator;
  }
  return text;
}

function operatorText(operator: string | null): string {
  if (operator === null) return '';
  return /[<>]&?$/.test(operator) ? ` ${operator}` : ` ${operator} `;
}

/** The target of a redirection, if it is not a file; else null. With a star, the agent would choose the content of a file. */
function harmlessTarget({ words }: ShellPart, operator: string): string | null {
  const [target = ''] = words[0]?.pieces ?? [];
  const isNone =
    words.length === 1 && (/^\d$/.test(target) ? operator.endsWith('&') : target === '/dev/null');
  return isNone ? target : null;
}

/** A command of the list above with its plain words left open, or a `cd` as it is; null for any other. */
function openPart({ words }: ShellPart): string | null {
  const texts = words.map(({ pieces }) => pieces[0] ?? '');
  const spelled = words.map(quoted);
  const [program] = texts;
  if (spelled.includes(null)) return null;
  if (program === 'cd' && words.length === 2) return spelled.join(' ');
  const heads = OPEN_HEADS.filter((head) => head.every((word, at) => texts[at] === word));
  const length = Math.max(0, ...heads.map((head) => head.length));
  if (length === 0) return null;
  const isOpen = (at: number): boolean => {
    // The word after an option may be its value, such as a file to write or a program to run.
    const follows = at > length && /^-[^=]*$/.test(texts[at - 1] ?? '');
    return at >= length && !follows && !(texts[at] ?? '').startsWith('-');
  };
  const kept = spelled.map((word, at) => (isOpen(at) ? '*' : word));
  const hasEnd = kept.at(-1) === '*';
  while (kept.at(-1) === '*') kept.pop();
  // `npm test*` allows further words or none. After an option, the star needs a word of its own.
  if (kept.length === length) return `${kept.join(' ')}*`;
  return `${kept.join(' ')}${hasEnd ? ' *' : ''}`;
}

/** A word quoted for a shell; null if it would need more than single quotes. */
function quoted({ pieces }: ShellWord): string | null {
  const [text = ''] = pieces;
  if (/^[A-Za-z0-9_./:@%+,-][A-Za-z0-9_./:@%+,=-]*$/.test(text)) return text;
  return text.includes("'") ? null : `'${text}'`;
}

// ---- Files and addresses ----

/** The folders around a file, from its own up to the project, each with a star; none outside the project. */
function foldersFor(path: string, place: Place): string[] {
  const real = place.resolve(path);
  const root = place.project_dir?.replace(/\/\.git$/, '');
  if (real === null || root === undefined || root === '/' || !real.startsWith(`${root}/`)) return [];
  const below = real.slice(root.length + 1).split('/');
  if (real.includes('*') || below.some((name) => name.startsWith('.'))) return [];
  return below.map((_, at) => [root, ...below.slice(0, below.length - 1 - at), '*'].join('/'));
}

function openAddress(url: string): string | null {
  const host = /^https?:\/\/[A-Za-z0-9.-]+(?::\d+)?(?=[/?#]|$)/.exec(url)?.[0];
  return host === undefined ? null : `${host}/*`;
}

// ---- The rules that the history suggests ----

/** A rule that the history suggests, with the reasons for it. */
export interface Proposal {
  /** Identifies the proposal. */
  key: string;
  draft: RuleDraft;
  /** How many calls that it would allow the human has allowed; they denied none. */
  allowed: number;
}

/** How often the human must have allowed something before a rule is proposed for it. */
export const LEAST_ALLOWED = 5;

export interface ProposalParts {
  /** Oldest first. */
  calls: readonly PastCall[];
  rules: readonly PermissionRule[];
  placeOf: PlaceOf;
  now: string;
  /** The keys of proposals that were made before. */
  made: ReadonlySet<string>;
}

/**
 * The proposals, first the one that saves the most questions. Each next one counts only the calls that the earlier ones leave.
 */
export function proposeRules({ calls, rules, placeOf, now, made }: ProposalParts): Proposal[] {
  const isRuled = (call: PastCall): boolean =>
    decidingRule(rulesForTool(rules, call.tool, placeOf(call)), call, now) !== null;
  const asked = calls.filter((call) => call.rule === null && !isRuled(call));
  const denied = asked.filter(({ outcome }) => outcome === 'denied');
  const groups = groupsOf(
    asked.filter(({ outcome }) => outcome === 'allowed'),
    placeOf,
    now,
  );
  const proposals: Proposal[] = [];
  const gone = new Set<PastCall>();
  for (;;) {
    const left = (group: Group): number => group.calls.reduce((n, call) => n + (gone.has(call) ? 0 : 1), 0);
    let best: Group | null = null;
    let most = LEAST_ALLOWED - 1;
    for (const [key, group] of groups) {
      // The narrowest comes first, and wins if a wider one saves no more.
      const saves = left(group);
      if (saves < LEAST_ALLOWED) groups.delete(key);
      else if (saves > most && isUndenied(group)) {
        best = group;
        most = saves;
      }
    }
    if (best === null) return proposals;
    groups.delete(best.key);
    for (const call of best.calls) gone.add(call);
    if (!made.has(best.key)) proposals.push({ key: best.key, draft: best.draft, allowed: best.calls.length });
  }

  function isUndenied(group: Group): boolean {
    group.undenied ??= !denied.some((call) => decides(group.rule, call, placeOf(call), now));
    return group.undenied;
  }
}

interface Group {
  key: string;
  draft: RuleDraft;
  rule: PermissionRule;
  calls: PastCall[];
  undenied?: boolean;
}

/** The calls, grouped by the rules that they suggest, the narrowest rules first. */
function groupsOf(calls: readonly PastCall[], placeOf: PlaceOf, now: string): Map<string, Group> {
  const suggested = new Map<string, readonly (readonly [string, RuleDraft, PermissionRule])[]>();
  const suggestedBy = (call: PastCall): readonly (readonly [string, RuleDraft, PermissionRule])[] => {
    const same = JSON.stringify([call.tool.name, call.tool.input, call.cwd, call.machine]);
    const known = suggested.get(same);
    if (known !== undefined) return known;
    const found = draftsFor(call, placeOf(call), now).flatMap((draft) => {
      const [rule] = readDraft(draft).rules;
      return rule !== undefined && isProposable(draft) ? [[proposalKey(draft), draft, rule] as const] : [];
    });
    suggested.set(same, found);
    return found;
  };
  const ranked: Map<string, Group>[] = [];
  for (const call of calls) {
    suggestedBy(call).forEach(([key, draft, rule], rank) => {
      ranked[rank] ??= new Map();
      const group = ranked.map((one) => one.get(key)).find((one) => one !== undefined);
      if (group === undefined) ranked[rank].set(key, { key, draft, rule, calls: [call] });
      else group.calls.push(call);
    });
  }
  return new Map(ranked.flatMap((one) => [...one]));
}

/** The key of a proposal, the same whenever the same rule is proposed. */
export function proposalKey({ decision, tool, input, project }: RuleDraft): string {
  return digestOf([decision, tool, input, project]).slice(0, 16);
}

/** Commands that remove, publish, send, install or grant rights are never proposed; the human can still write such a rule. */
const NEVER_PROPOSED = new Set(
  (
    'rm rmdir mv dd mkfs shred truncate chmod chown chgrp kill pkill killall sudo doas su ssh scp sftp rsync curl wget nc ' +
    'docker podman kubectl helm terraform ansible aws gcloud az gh glab psql mysql sqlite3 redis-cli mongosh crontab ' +
    'systemctl service launchctl apt apt-get dnf yum brew pip pip3 uv gem eval exec env xargs sh bash zsh dash'
  ).split(' '),
);
const NEVER_PROPOSED_AFTER: ReadonlyMap<string, ReadonlySet<string>> = new Map(
  Object.entries({
    git: 'push reset clean checkout restore rebase config remote filter-branch stash branch tag rm mv',
    npm: 'publish install i ci add update uninstall exec config login deploy',
    pnpm: 'publish install i add update remove exec dlx deploy',
    yarn: 'publish install add upgrade remove dlx deploy',
    bun: 'publish install add remove x deploy',
    cargo: 'publish install add remove login yank run',
    go: 'install get run generate',
    make: 'install deploy publish release clean',
  }).map(([program, words]) => [program, new Set(words.split(' '))]),
);

/** Whether a rule may be proposed without the human asking for one. */
function isProposable({ tool, project, input }: RuleDraft): boolean {
  if (project === null || input === null) return false;
  const kind = toolKind(tool)?.kind;
  // A single file is too narrow for a rule, and a whole project includes the files that build and start it.
  if (kind === 'path') return input.endsWith('/*') && (tool === 'Read' || input !== `${project}/*`);
  if (kind !== 'command') return kind === 'url';
  const parts = shellParts(input, { stars: true });
  return parts !== null && beginPlainly(parts) && commandsOf(parts).every(isTame);
}

function isTame(words: readonly ShellWord[]): boolean {
  const [program = '', ...rest] = words.map(({ pieces }) => pieces[0] ?? '');
  if (NEVER_PROPOSED.has(program.replace(/^.*\//s, '')) || /^\w+=/.test(program)) return false;
  const after = NEVER_PROPOSED_AFTER.get(program);
  return after === undefined || !rest.some((word) => after.has(word));
}
