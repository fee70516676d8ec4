/**
 * Rules over the wire of Emacs: proposed, tried, written into the human's file, listed, used and revoked.
 *
 * @module-tag no-authority
 * @module-tag emacs
 */
import { existsSync, readFileSync, realpathSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { humanTrust } from '../../src/infrastructure/platform/human-file.ts';
import { thisSeat } from '../../src/infrastructure/platform/paths.ts';
import { placeAt } from '../../src/infrastructure/platform/place.ts';
import type { OpenedHive } from '../../src/open-hive.ts';
import { answerDialog, fireDialog } from '../support/dialogs.ts';
import { measuredEditTools } from '../support/edit-tools.ts';
import { eventsOf, newHive, noticesOf, SEAT_SECRET } from '../support/hive.ts';
import { type Client, fire, recordedEvent, said } from '../support/hooks.ts';
import { trustFileOf, trusting } from '../support/human-file.ts';
import { type Loose, openDeskHere, type RpcClient, startSidecar } from '../support/sidecar.ts';
import { tempFolder, tempStore } from '../support/temp.ts';
import { eventually } from '../support/wait.ts';
import { expectGolden } from './golden.ts';

const BASH = recordedEvent('claude-code/PermissionRequest-Bash-addRules.json');
/** As a person formats it. */
const OWN = `{
    "permission_rules": [
        {"decision": "deny", "tool": "Bash", "input": "*git push*", "name": "mine"}
    ]
}
`;
const NPM_TEST = { decision: 'allow', tool: 'Bash', input: 'npm test*', project: '/home/user/project' };

/** The directory of the recorded client, which is no repository. */
const findProject = () => ({ project: 'project', project_dir: '/home/user/project', branch: null });

interface Desk {
  hive: OpenedHive;
  sidecar: RpcClient;
  file: string;
  /** A hook whose human has this file. */
  hook: Client;
}

/** A desk whose seat is registered, as the first one is. */
async function openDesk(open: typeof openDeskHere = openDeskHere): Promise<Desk> {
  const env = trusting(OWN);
  const { store, hive } = await newHive();
  const sidecar = await open(store, { env, seat_key: SEAT_SECRET });
  const human = async (cwd: string) => ({ trust: humanTrust(env), place: placeAt(cwd) });
  return {
    hive,
    sidecar,
    file: trustFileOf(env['XDG_CONFIG_HOME']),
    hook: { surroundings: { seat: thisSeat(), human, findProject } },
  };
}

function asks(command: string): Record<string, unknown> {
  return { ...BASH, tool_input: { command } };
}

/** Asks for a permission and answers it at the desk. */
async function decided({ hive }: Desk, command: string, decision: string): Promise<string> {
  const { prompts, printed } = await fireDialog(hive, asks(command), { surroundings: { findProject } });
  const ask_id = prompts[0]?.ask_id ?? '';
  await answerDialog(hive, ask_id, decision);
  await printed;
  return ask_id;
}

async function frame({ sidecar, file }: Desk, method: string, params: unknown): Promise<Loose> {
  const result = await sidecar.request(method, params);
  const steady = JSON.stringify({ request: { method, params }, reply: { result } })
    .replaceAll(file, '/home/ada/.config/hive/trust.json')
    .replaceAll(/\d{4}-\d\d-\d\d(?!T)/g, '<day>')
    .replaceAll(/"(rule_id|key)":"[0-9a-f]+"/g, '"$1":"<digest>"');
  expectGolden(`sidecar/${method}`, JSON.parse(steady));
  return result;
}

const preferencesOf = ({ store }: OpenedHive) => store.read((tx) => tx.desks.preferences(thisSeat()));

async function hookSays({ hive, hook }: Desk, command: string): Promise<unknown> {
  const output = said(await fire(hive, asks(command), hook)) as Loose;
  return output?.hookSpecificOutput?.decision?.behavior;
}

test('a rule is made from a permission, tried, written, used and revoked', async () => {
  const desk = await openDesk();
  const ask_id = await decided(desk, 'npm test', 'Allow');
  await decided(desk, 'npm test src/b.ts', 'Deny');
  const before = readFileSync(desk.file, 'utf8');
  const { rule } = await frame(desk, 'rule/propose', { ask_id });
  await frame(desk, 'rule/try', { rule: NPM_TEST });
  expect(rule.input).toBe('npm test');
  const added = await frame(desk, 'rule/add', { rule: { ...rule, ...NPM_TEST, name: null } });
  expect(added.rule.line).toBe(4);
  expect(await hookSays(desk, 'npm test src/c.ts')).toBe('allow');
  await frame(desk, 'rule/list', {});
  await frame(desk, 'rule/revoke', { rule_id: added.rule.rule_id });
  expect(readFileSync(desk.file, 'utf8')).toBe(before);
  expect((await desk.sidecar.request('rule/list')).rules).toHaveLength(1);
  const events = await eventsOf(desk.hive, 'rule/changed');
  expect(events.map(({ data }) => [data['change'], data['name'], data['by']])).toEqual([
    ['added', 'Bash: npm test*', 'Ada'],
    ['revoked', 'Bash: npm test*', 'Ada'],
  ]);
});

test('what the human wrote stays as it is, and the file stays private', async () => {
  const desk = await openDesk();
  await desk.sidecar.request('rule/add', { rule: { ...NPM_TEST, expires: '2999-01-01' } });
  const [, , , , ...rest] = OWN.split('\n');
  const text = readFileSync(desk.file, 'utf8');
  expect(text.startsWith(OWN.slice(0, OWN.indexOf('mine"}') + 6))).toBe(true);
  expect(text.endsWith(rest.join('\n'))).toBe(true);
  expect(statSync(desk.file).mode & 0o777).toBe(0o600);
});

describe('nothing is written', () => {
  test('where the seat is not registered', async () => {
    const store = tempStore();
    const env = { XDG_CONFIG_HOME: tempFolder() };
    const sidecar = await openDeskHere(store, { env });
    await expect(sidecar.request('rule/add', { rule: NPM_TEST })).rejects.toThrow(
      /^not_allowed: Rules are changed only where what you allow counts/,
    );
    expect(existsSync(trustFileOf(env.XDG_CONFIG_HOME))).toBe(false);
  });

  test('nor is anything revoked there', async () => {
    const env = trusting(OWN);
    const sidecar = await openDeskHere(tempStore(), { env });
    const { rules } = await sidecar.request('rule/list');
    await expect(sidecar.request('rule/revoke', { rule_id: rules[0].rule_id })).rejects.toThrow(
      /^not_allowed/,
    );
    expect(readFileSync(trustFileOf(env['XDG_CONFIG_HOME']), 'utf8')).toBe(OWN);
  });

  test('into a file that is not understood', async () => {
    const desk = await openDesk();
    writeFileSync(desk.file, OWN.replace('{', '{ "unknown": 1,'));
    await expect(desk.sidecar.request('rule/add', { rule: NPM_TEST })).rejects.toThrow(/an entry "unknown"/);
    expect(readFileSync(desk.file, 'utf8')).toContain('"unknown"');
    expect(readFileSync(desk.file, 'utf8')).not.toContain('npm test');
  });

  test('for a day that is none, and the refusal is only a sentence', async () => {
    const desk = await openDesk();
    const before = readFileSync(desk.file, 'utf8');
    const rule = { ...NPM_TEST, expires: 'soon' };
    await expect(desk.sidecar.request('rule/add', { rule })).rejects.toThrow(
      /^invalid_input: A rule ends on a day such as 2027-03-31\.$/,
    );
    expect(readFileSync(desk.file, 'utf8')).toBe(before);
  });

  test('that could never allow what it is meant for', async () => {
    const desk = await openDesk();
    const rule = { decision: 'allow', tool: 'Bash', input: 'sudo *' };
    await expect(desk.sidecar.request('rule/add', { rule })).rejects.toThrow(
      /has a star where sudo may read it/,
    );
    expect((await desk.sidecar.request('rule/try', { rule })).trial.problem).toMatch(/has a star where sudo/);
  });

  test('when the rule to remove has changed in the meantime', async () => {
    const desk = await openDesk();
    const { rules } = await desk.sidecar.request('rule/list');
    writeFileSync(desk.file, readFileSync(desk.file, 'utf8').replace('git push', 'git pull'));
    await expect(desk.sidecar.request('rule/revoke', { rule_id: rules[0].rule_id })).rejects.toThrow(
      /This rule is no longer in the file/,
    );
  });
});

test('the permission of an edit that is shown as a diff suggests a rule for its folder, and counts where a rule is tried', async () => {
  const desk = await openDesk();
  const cwd = realpathSync(tempFolder());
  const file_path = join(cwd, 'a.ts');
  writeFileSync(file_path, 'one\n');
  const input = { file_path, old_string: 'one', new_string: 'two', replace_all: false };
  const project = () => ({ project: 'shop', project_dir: cwd, branch: null });
  const surroundings = { findProject: project, editTools: async () => measuredEditTools(cwd) };
  const raw = { ...BASH, cwd, tool_name: 'Edit', tool_input: input };
  const { prompts, answer } = await fireDialog(desk.hive, raw, { surroundings });
  expect(prompts[0]?.context).toContain('\n-one\n+two\n');
  await answer('Allow');
  const { rule } = await desk.sidecar.request('rule/propose', { ask_id: prompts[0]?.ask_id });
  expect(rule).toMatchObject({ tool: 'Edit', input: `${cwd}/*`, project: cwd });
  const denied = { decision: 'deny', tool: 'Edit', input: `${cwd}/*` };
  expect((await desk.sidecar.request('rule/try', { rule: denied })).trial).toMatchObject({ allowed: 1 });
});

test('a question, and a permission that nobody understands, suggest no rule', async () => {
  const desk = await openDesk();
  const ask_id = await decided(desk, 'ls *.ts', 'Allow');
  await expect(desk.sidecar.request('rule/propose', { ask_id })).rejects.toThrow(/No rule can allow this/);
});

test('what was always allowed is proposed once, at most once a day, and not again once it is dismissed', async () => {
  const desk = await openDesk(startSidecar);
  const { hive, sidecar } = desk;
  // The sidecar looks when it starts, and finds nothing yet.
  await eventually(async () => 'rule_proposals' in (await preferencesOf(hive)));
  for (let n = 0; n < 5; n += 1) await decided(desk, 'npm test', 'Allow');
  for (let n = 0; n < 5; n += 1) await decided(desk, 'git status', 'Allow');
  const nextDay = (): Promise<void> =>
    hive.store.write(async (tx) => {
      const { rule_proposals, ...rest } = await tx.desks.preferences(thisSeat());
      await tx.desks.setPreferences(thisSeat(), {
        ...rest,
        rule_proposals: { ...(rule_proposals as object), looked_at: '2020-01-01T00:00:00.000Z' },
      });
    });
  await nextDay();
  expect(await hive.rules.propose()).toMatchObject({ draft: { input: 'npm test' }, allowed: 5 });
  expect(await hive.rules.propose()).toBeNull();
  expect(await noticesOf(hive)).toContainEqual(
    'You allowed Bash npm test 5 times in 90 days and never denied it. M-x hive-rules makes this a rule, or dismisses it.',
  );
  const { proposals } = await sidecar.request('rule/list');
  expect(proposals).toMatchObject([{ draft: { input: 'npm test' }, allowed: 5 }]);
  expect((await sidecar.request('rule/list')).rules).toMatchObject([{ name: 'mine' }]);
  await frame(desk, 'rule/dismiss', { key: proposals[0].key });
  expect((await sidecar.request('rule/list')).proposals).toEqual([]);
  await nextDay();
  expect(await hive.rules.propose()).toMatchObject({ draft: { input: 'git status' } });
  await nextDay();
  expect(await hive.rules.propose()).toBeNull();
});

test('the statistics count what was asked here', async () => {
  const desk = await openDesk();
  await decided(desk, 'npm test', 'Allow');
  const { stats } = await desk.sidecar.request('stats/read', {});
  expect(stats.total).toMatchObject({ asked: 1, answered: 1 });
  expect(stats.days).toHaveLength(8);
  const shape = JSON.parse(
    JSON.stringify(stats, (key, value: unknown) =>
      typeof value === 'number' && key.endsWith('_ms')
        ? 0
        : key === 'days' && Array.isArray(value)
          ? value.slice(-1)
          : value,
    ).replaceAll(/\d{4}-\d\d-\d\d(?!T)/g, '<day>'),
  ) as unknown;
  expectGolden('sidecar/stats/read', {
    request: { method: 'stats/read', params: {} },
    reply: { result: { stats: shape } },
  });
});
