/** `hive stats`: how long agents waited for you, what they asked, where you answered, and what rules saved. */
import type { Command } from 'commander';
import type { Hive } from '../application/hive.ts';
import { calledBy } from '../domain/sources.ts';
import { STATS_DAYS, type Stats, type Waits } from '../domain/stats.ts';
import { EXIT, type ExitCode } from './exit-codes.ts';
import { type Format, parseDuration, print, printJson, printRows } from './output.ts';
import { perform } from './program.ts';
import { counted } from './sentences.ts';

const restOf = ({
  late,
  expired,
  cancelled,
  pending,
}: Readonly<Record<'late' | 'expired' | 'cancelled' | 'pending', number>>): string[] =>
  [
    late > 0 ? `${late} answered late` : '',
    expired > 0 ? `${expired} expired` : '',
    cancelled > 0 ? `${cancelled} cancelled` : '',
    pending > 0 ? `${pending} pending` : '',
  ].filter((part) => part !== '');

const VIA = {
  emacs: 'Emacs',
  notification: 'a popup',
  terminal: "the agent's terminal",
  cli: 'the command line',
  rule: 'a rule',
  mcp: 'another agent',
  hook: 'a hook',
  library: 'a program',
} as Readonly<Record<string, string>>;

export function defineStats(command: Command): void {
  perform(command, stats).option(
    '--since <duration>',
    'the period until now: 24h, 7d, 30d',
    `${STATS_DAYS}d`,
  );
}

async function stats(hive: Hive, { since, json }: Format & { since: string }): Promise<ExitCode> {
  const found = await hive.stats.read(new Date(Date.now() - parseDuration(since)).toISOString());
  if (json === true) printJson({ stats: found });
  else show(found, await byAgent(hive, found.agents));
  return EXIT.done;
}

/** Waits by agent with the names that people see; they come with handles, which stay in the store longer. */
function byAgent(hive: Hive, agents: readonly Waits[]): Promise<Waits[]> {
  return Promise.all(
    agents.slice(0, MOST_ROWS).map(async (waited) => {
      const session = await hive.sessions.resolve(waited.name).catch(() => null);
      return session?.handle === waited.name ? { ...waited, name: calledBy(session) } : waited;
    }),
  );
}

function show(stats: Stats, agents: readonly Waits[]): void {
  const { total, days, answered_via, most_asked, rules, saved_ms } = stats;
  const asked = [counted(total.asked, 'question'), `${total.answered} answered in time`, ...restOf(stats)];
  print(`Since ${days[0]?.day ?? ''}: ${asked.join(', ')}.`);
  const shown = days.slice(-MOST_DAYS);
  section(
    shown.length < days.length ? `QUESTIONS PER DAY, THE LAST ${MOST_DAYS}` : 'QUESTIONS PER DAY',
    shown.map(({ day, asked, answered_by_rules }) => [
      day,
      bar(asked, shown),
      answered_by_rules === 0 ? `${asked}` : `${asked} + ${answered_by_rules} by rules`,
    ]),
  );
  const groups = [
    ...waits('all', [total]),
    ...waits('by kind', stats.kinds),
    ...waits('by project', stats.projects),
    ...waits('by agent', agents),
  ];
  section('HOW LONG THEY WAITED', [['', 'ASKED', 'MEDIAN', 'WORST', 'BLOCKED', ''], ...groups]);
  section(
    'ANSWERED IN',
    answered_via.map(({ name, count }) => [VIA[name] ?? name, String(count)]),
  );
  section(
    'ASKED MOST',
    most_asked.map(({ name, count }) => [String(count), name]),
  );
  section(
    'ANSWERED BY RULES',
    rules.map(({ name, count }) => [String(count), name]),
  );
  if (saved_ms !== null && rules.length > 0)
    print(`  About ${inShort(saved_ms)} of waiting saved (estimated from the median for permissions).`);
}

/** A heading and rows below it, unless there are none. */
function section(heading: string, rows: readonly (readonly string[])[]): void {
  if (rows.length === 0) return;
  print(`\n${heading}`);
  printRows(rows, '  ');
}

const MOST_ROWS = 6;
const MOST_DAYS = 31;

function waits(title: string, groups: readonly Waits[]): string[][] {
  return groups
    .slice(0, MOST_ROWS)
    .map(({ name, asked, median_ms, worst_ms, blocked_ms }, index) => [
      index === 0 ? title : '',
      String(asked),
      median_ms === null ? '' : inShort(median_ms),
      worst_ms === null ? '' : inShort(worst_ms),
      blocked_ms === 0 ? '' : inShort(blocked_ms),
      name,
    ]);
}

const BAR = 40;

/** A bar as long as the day had questions, compared with the busiest day. */
function bar(asked: number, days: Stats['days']): string {
  const most = Math.max(1, ...days.map((day) => day.asked));
  return '█'.repeat(Math.ceil((asked / most) * BAR));
}

/** A duration in two units at most: `12 s`, `5 min`, `3 h 20 min`, `2 d 4 h`. */
function inShort(ms: number): string {
  const seconds = Math.round(ms / 1_000);
  const minutes = Math.floor(seconds / 60);
  const hours = Math.floor(minutes / 60);
  if (seconds < 60) return `${seconds} s`;
  if (minutes < 60) return `${minutes} min`;
  const both = (large: number, unit: string, small: number, other: string): string =>
    `${large} ${unit}${small === 0 ? '' : ` ${small} ${other}`}`;
  return hours < 24
    ? both(hours, 'h', minutes % 60, 'min')
    : both(Math.floor(hours / 24), 'd', hours % 24, 'h');
}
