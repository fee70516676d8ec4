/**
 * The tags of tests: what a test proves, through which door, and over which engine where that is not SQLite. They are declared
 * where the tests are: for a file by `@module-tag NAME` in its first comment, for a Lisp file by a line `;; Tags: NAME NAME`, for a
 * part by the option `tags` of `describe` or `test`. At the end of a whole run, coverage.ts prints what was proved where.
 */

/** The invariants of the design, in its order. */
export const INVARIANTS: Readonly<Record<string, string>> = {
  durable: 'durable before told',
  'one-winner': 'one winner',
  silence: 'silence is never a decision',
  late: 'late answers are kept',
  'not-consumed': 'reading is not consuming',
  'at-least-once': 'delivered at least once',
  undisturbed: 'Emacs never waits, is never seized',
  provenance: 'every settlement says who and how',
  'no-self-approval': 'no self-approval',
  'state-not-events': 'state, not events',
  'guards-end': 'guards end',
  untrusted: 'text from agents is untrusted',
  'as-displayed': 'approved is what was displayed',
  'no-authority': 'the store is data, never authority',
  flushed: 'acknowledged means flushed',
  'cheap-hooks': 'a hook costs next to nothing',
};

export const ENGINES: Readonly<Record<string, string>> = { sqlite: 'SQLite', postgres: 'PostgreSQL' };

/** How the world reaches in; `library` is the services as a program calls them. */
export const DOORS: Readonly<Record<string, string>> = {
  library: 'library',
  mcp: 'MCP',
  http: 'HTTP',
  hook: 'hook',
  cli: 'CLI',
  emacs: 'Emacs',
  popup: 'popup',
  acp: "agent's own protocol",
};

/** Demands of a test on the machine: `npm test -- --tags-filter='!root'` leaves out those that need root. */
const NEEDS: Readonly<Record<string, string>> = {
  root: 'needs root: other users, mounts and networks of its own',
  mounts: 'needs mount namespaces, for a disk that is soon full',
};

export const TAGS: { name: string; description: string }[] = [INVARIANTS, ENGINES, DOORS, NEEDS].flatMap(
  (group) => Object.entries(group).map(([name, description]) => ({ name, description })),
);
