/**
 * The file in which the human writes what may happen without them: when it counts, and what is never read from the store instead.
 *
 * @module-tag no-authority
 * @module-tag cli
 */
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { HookSurroundings } from '../../src/application/hook-context.ts';
import type { Trust } from '../../src/domain/trust.ts';
import { humanTrust } from '../../src/infrastructure/platform/human-file.ts';
import { thisSeat } from '../../src/infrastructure/platform/paths.ts';
import { placeAt } from '../../src/infrastructure/platform/place.ts';
import { type OpenedHive, openHive } from '../../src/open-hive.ts';
import {
  childEnvironment,
  type Environment,
  HIVE,
  outputOf,
  spawnChild,
  spawnHive,
} from '../support/children.ts';
import { permissionDecision } from '../support/dialogs.ts';
import { ask, eventsOf, newHive, noticesOf, openTestHive, recordingLog } from '../support/hive.ts';
import { fire, said } from '../support/hooks.ts';
import { trustFileOf, trusting } from '../support/human-file.ts';
import { closedAtEnd } from '../support/lifetime.ts';
import { recorded } from '../support/popup-trail.ts';
import { startSidecar } from '../support/sidecar.ts';
import { tempFolder, tempHome, tempStore } from '../support/temp.ts';

const ALLOW = { decision: 'allow', tool: 'Bash', input: 'npm test*', name: 'tests' };
const DENY = { decision: 'deny', tool: 'Bash', input: '*git push*', name: 'mine' };
const CONTENT = {
  popup_permissions: true,
  allow_scripts_to_answer: true,
  notify_command: 'true',
  permission_rules: [ALLOW, DENY],
};

const bash = (command: string): Record<string, unknown> => ({
  session_id: '5e551000-0000-4000-8000-000000000001',
  cwd: '/',
  hook_event_name: 'PermissionRequest',
  tool_name: 'Bash',
  tool_input: { command },
});

/** The same hook as `hive hook`, in this process. */
function surroundings(env: Environment): Partial<HookSurroundings> {
  return { seat: thisSeat(), human: async (cwd) => ({ trust: humanTrust(env), place: placeAt(cwd) }) };
}

/** The decision that the hook prints for a command: allow, deny, or null. */
async function decided(hive: OpenedHive, env: Environment, command: string): Promise<string | null> {
  const output = said(await fire(hive, bash(command), { surroundings: surroundings(env) }));
  const { decision } = (output?.hookSpecificOutput ?? {}) as { decision?: { behavior?: string } };
  return decision?.behavior ?? null;
}

test('a file that the human owns, and that is fully understood, counts', async () => {
  const hive = await openTestHive();
  const env = trusting(CONTENT);
  expect(humanTrust(env)).toMatchObject({
    popup_permissions: true,
    allow_scripts_to_answer: true,
    notify_command: 'true',
    problems: [],
  });
  expect(await decided(hive, env, 'npm test')).toBe('allow');
  expect(await decided(hive, env, 'git push')).toBe('deny');
  expect(await noticesOf(hive)).toEqual([]);
});

test('without a file nothing is allowed, and no problem is reported', async () => {
  const hive = await openTestHive();
  const env = { XDG_CONFIG_HOME: tempFolder() };
  expect(humanTrust(env)).toMatchObject({ digest: null, problems: [], permission_rules: [] });
  expect(await decided(hive, env, 'npm test')).toBeNull();
  expect(await eventsOf(hive, 'trust/changed')).toEqual([]);
});

/** Attacks on a good file, and the report of each. */
const ATTACKS: readonly (readonly [what: string, spoil: (file: string) => void, said: RegExp])[] = [
  ['can be written by a group', (file) => chmodSync(file, 0o620), /is open to other users: run chmod 600/],
  ['can be read by others', (file) => chmodSync(file, 0o604), /is open to other users: run chmod 600/],
  ['lies in a folder that others can write', (file) => chmodSync(dirname(file), 0o777), /run chmod go-w/],
  [
    'is reached through a folder that others can write',
    (file) => {
      const open = join(dirname(dirname(file)), 'open');
      mkdirSync(open);
      renameSync(file, join(open, 'trust.json'));
      symlinkSync(join(open, 'trust.json'), file);
      chmodSync(open, 0o777);
    },
    /run chmod go-w/,
  ],
  [
    'is too large',
    (file) => writeFileSync(file, JSON.stringify(CONTENT) + ' '.repeat(300_000)),
    /reads at most/,
  ],
  [
    'has an entry that nobody knows',
    (file) => writeFileSync(file, JSON.stringify({ ...CONTENT, allow_everything: true })),
    /an entry "allow_everything" that Hive does not know/,
  ],
  [
    'has a rule that is not understood',
    (file) =>
      writeFileSync(
        file,
        JSON.stringify({ ...CONTENT, permission_rules: [{ ...ALLOW, unless: 'x' }, DENY] }),
      ),
    /Rule 1 of trust\.json has an unknown field "unless"/,
  ],
  [
    'has a switch that is no switch',
    (file) => writeFileSync(file, JSON.stringify({ ...CONTENT, popup_permissions: 'yes' })),
    /popup_permissions in .* is neither true nor false/,
  ],
  [
    'has a list of rules twice, of which a reader of JSON takes one',
    (file) => writeFileSync(file, JSON.stringify(CONTENT).replace(/\}$/, ',"permission\\u005frules":[]}')),
    /has the name "permission_rules" twice/,
  ],
  ...['decision', 'tool', 'input'].flatMap((field) =>
    ['before', 'after'].map(
      (where) =>
        [
          `has a rule with "${field}" twice, which denies only by the one ${where} the other`,
          (file: string) => {
            const other = { decision: 'allow', tool: 'Read', input: 'ls' }[field];
            const pairs = Object.entries(DENY).map(([name, value]) => {
              const [own, added] = [value, other].map((one) => `"${name}":${JSON.stringify(one)}`);
              if (name !== field) return own;
              return where === 'before' ? `${own},${added}` : `${added},${own}`;
            });
            const rules = `[${JSON.stringify(ALLOW)},{${pairs.join(',')}}]`;
            writeFileSync(file, `{"popup_permissions":true,"permission_rules":${rules}}`);
          },
          new RegExp(`has the name "${field}" twice`),
        ] as const,
    ),
  ),
  [
    'is broken, as after a comma too few',
    (file) => writeFileSync(file, JSON.stringify(CONTENT, null, 1).replace('},', '}')),
    /is not valid JSON/,
  ],
];

describe('nothing in a file allows anything, and what denies still denies, when it', () => {
  test.each(ATTACKS)('%s; the doctor and one notice say so', async (_what, spoil, sentence) => {
    const { store, hive } = await newHive();
    const env = trusting(CONTENT);
    expect(await decided(hive, env, 'npm test')).toBe('allow');
    spoil(trustFileOf(env['XDG_CONFIG_HOME']));
    const trust: Trust = humanTrust(env);
    expect(trust).toMatchObject({
      popup_permissions: false,
      allow_scripts_to_answer: false,
      notify_command: null,
      problems: [expect.stringMatching(sentence)],
    });
    expect(await decided(hive, env, 'npm test')).toBeNull();
    expect(await decided(hive, env, 'git push')).toBe('deny');
    expect(await decided(hive, env, 'npm test')).toBeNull();
    const notices = await noticesOf(hive);
    expect(notices).toEqual([expect.stringMatching(sentence)]);
    expect(notices).toEqual([expect.stringMatching(/allows anything; its rules that deny still deny/)]);
    const doctor = closedAtEnd(await openHive({ store, env, log: recordingLog() }));
    const checks = (await doctor.doctor.run()).filter(({ name }) => name === 'Trust');
    expect(checks).toMatchObject([{ state: 'broken', text: expect.stringMatching(sentence) }]);
  });

  test('belongs to somebody else', async () => {
    const hive = await openTestHive();
    const env = trusting(CONTENT);
    const file = trustFileOf(env['XDG_CONFIG_HOME']);
    if (process.getuid?.() === 0) chownSync(file, 12_345, 12_345);
    else {
      // Of another user every machine has this one.
      rmSync(file);
      symlinkSync('/etc/passwd', file);
    }
    expect(humanTrust(env).problems[0]).toMatch(/belongs to another user/);
    expect(await decided(hive, env, 'npm test')).toBeNull();
  });

  test('is a pipe, without waiting for it; no rule is known then, so none denies, and the notice says so', async () => {
    const hive = await openTestHive();
    const env = trusting(CONTENT);
    const file = trustFileOf(env['XDG_CONFIG_HOME']);
    rmSync(file);
    execFileSync('mkfifo', ['-m', '600', file]);
    expect(humanTrust(env).problems).toEqual([expect.stringMatching(/is not a file/)]);
    expect(await decided(hive, env, 'git push')).toBeNull();
    expect(await noticesOf(hive)).toEqual([expect.stringMatching(/nothing in .* allows or denies anything/)]);
  });
});

test('each change of the file is one event, whoever sees it first', async () => {
  const { store, hive } = await newHive();
  const env = trusting({ permission_rules: [DENY] });
  const changes = async () => (await eventsOf(hive, 'trust/changed')).map(({ data }) => data);
  await decided(hive, env, 'ls');
  await decided(hive, env, 'ls');
  expect(await changes()).toMatchObject([{ seat: thisSeat(), before: null, counts: true, via: 'hook' }]);
  writeFileSync(trustFileOf(env['XDG_CONFIG_HOME']), JSON.stringify(CONTENT));
  await startSidecar(store, { env });
  await decided(hive, env, 'npm test');
  const [first, second, ...more] = await changes();
  expect(second).toMatchObject({ before: first?.['digest'], counts: true, via: 'sidecar' });
  expect(more).toEqual([]);
});

test('`hive hook` reads the file of the human who starts it', async () => {
  const store = tempStore();
  const printed = async (env: Environment): Promise<string> => {
    const child = spawnHive(['hook', '--client', 'claude-code'], childEnvironment(store, env));
    child.process.stdin.end(JSON.stringify(bash('npm test')));
    return outputOf(child);
  };
  const output = said(await printed(trusting(CONTENT)));
  expect(output?.hookSpecificOutput).toEqual(permissionDecision({ behavior: 'allow' }));
  expect(await printed(trusting(CONTENT, 0o644))).toBe('');
  // Neither does a variable name another file.
  const other = join(tempFolder(), 'rules.json');
  writeFileSync(other, JSON.stringify({ rules: [ALLOW] }), { mode: 0o600 });
  expect(await printed({ XDG_CONFIG_HOME: tempFolder(), HIVE_PERMISSION_RULES: other })).toBe('');
});

test('a file of the repository is not the human’s, whatever it is called', async () => {
  const project = tempFolder();
  for (const folder of ['', '.config/hive', '.hive', '.claude', 'hive']) {
    mkdirSync(join(project, folder), { recursive: true, mode: 0o700 });
    writeFileSync(join(project, folder, 'trust.json'), JSON.stringify(CONTENT), { mode: 0o600 });
  }
  const env = childEnvironment(tempStore(), { HOME: tempHome(), CLAUDE_PROJECT_DIR: project });
  const hook = `'${process.execPath}' '${HIVE}' hook --client claude-code`;
  const child = spawnChild('sh', ['-c', `cd '${project}' && ${hook}; exit $?`], env);
  child.process.stdin.end(JSON.stringify({ ...bash('npm test'), cwd: project }));
  expect(await outputOf(child)).toBe('');
});

describe('what is written into the store allows nothing', () => {
  const NO_BUS = { DBUS_SESSION_BUS_ADDRESS: 'disabled:' };

  async function forged(store: string, stored: Record<string, unknown>): Promise<OpenedHive> {
    const hive = await openTestHive(store);
    await hive.store.write((tx) => tx.desks.setPreferences(thisSeat(), stored));
    return hive;
  }

  test('a notify_command there is never run', async () => {
    const store = tempStore();
    const proof = join(tempFolder(), 'ran');
    const hive = await forged(store, { notify_command: `touch '${proof}'` });
    await startSidecar(store, { env: { ...NO_BUS, XDG_CONFIG_HOME: tempFolder() } });
    const { ask_id } = await ask(hive);
    expect(await recorded(hive, ask_id)).toMatchObject({ outcome: 'failed' });
    expect(existsSync(proof)).toBe(false);
  });

  test('permission rules there allow nothing', async () => {
    const hive = await forged(tempStore(), { permission_rules: [{ decision: 'allow', tool: '*' }] });
    expect(await decided(hive, { XDG_CONFIG_HOME: tempFolder() }, 'npm test')).toBeNull();
  });

  test('popup_permissions there is not read', async () => {
    const hive = await forged(tempStore(), { popup_permissions: true, notify_command: 'x' });
    expect(hive.trust.authority()).toEqual({ popup_permissions: false, notify_command: null });
    const stored = await hive.desks.preferences(thisSeat());
    expect(stored).not.toHaveProperty('popup_permissions');
    expect(stored).not.toHaveProperty('notify_command');
  });
});

describe('what Emacs allows', () => {
  test('applies while it is connected, is not stored, and is an event', async () => {
    const { store, hive } = await newHive();
    const env = { XDG_CONFIG_HOME: tempFolder(), DBUS_SESSION_BUS_ADDRESS: 'disabled:' };
    const emacs = await startSidecar(store, { env });
    const lent = { popup_permissions: true, notify_command: 'true' };
    expect(await emacs.request('desk/preferences', lent)).toMatchObject({ preferences: lent });
    const stored = await hive.store.read((tx) => tx.desks.preferences(thisSeat()));
    expect(Object.keys(stored).filter((key) => key in lent)).toEqual([]);
    expect((await eventsOf(hive, 'desk/preferences_changed')).map(({ data }) => data)).toMatchObject([
      { changed: ['popup_permissions', 'notify_command'], by: 'Ada', seat: thisSeat() },
    ]);
    await emacs.end();
    const next = await startSidecar(store, { env });
    expect(await next.request('desk/preferences', {})).toMatchObject({
      preferences: { popup_permissions: false, notify_command: null },
    });
  });

  test('does not include rules: they are refused on its wire', async () => {
    const emacs = await startSidecar(tempStore());
    await expect(emacs.request('desk/preferences', { permission_rules: [ALLOW] })).rejects.toThrow(
      /There is no preference "permission_rules"/,
    );
  });
});

test('rules are matched outside of any transaction, so that a long command delays nobody', async () => {
  const hive = await openTestHive();
  let inside = 0;
  const seen: number[] = [];
  const { writeUnflushed } = hive.store;
  hive.store.writeUnflushed = (work, announces) =>
    writeUnflushed(async (tx) => {
      inside += 1;
      try {
        return await work(tx);
      } finally {
        inside -= 1;
      }
    }, announces);
  const trust = humanTrust(trusting({ permission_rules: [ALLOW, { ...ALLOW, input: 'cat src/*' }] }));
  const watched = {
    ...trust,
    get permission_rules() {
      seen.push(inside);
      return trust.permission_rules;
    },
  };
  const place = {
    cwd: '/demo',
    resolve: (path: string) => {
      seen.push(inside);
      return `/demo/${path}`;
    },
  };
  const human = async () => ({ trust: watched, place });
  expect(said(await fire(hive, bash('npm test a b'), { surroundings: { human } }))).not.toBeNull();
  expect(seen.length).toBeGreaterThan(2);
  expect(new Set(seen)).toEqual(new Set([0]));
});
