/**
 * A signed seat: only an answer that a registered seat has signed allows anything.
 *
 * @module-tag as-displayed
 * @module-tag provenance
 * @module-tag no-authority
 */
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { promptView } from '../../src/adapters/mcp/prompts.ts';
import { type SignedAnswer, seatKeyFrom, seatThatSigned, signAnswer } from '../../src/domain/seats.ts';
import { humanTrust } from '../../src/infrastructure/platform/human-file.ts';
import { thisSeat } from '../../src/infrastructure/platform/paths.ts';
import { addSeat, seatSecret } from '../../src/infrastructure/platform/seat-file.ts';
import type { Driver } from '../../src/infrastructure/store/sql.ts';
import { openSqlite } from '../../src/infrastructure/store/sqlite.ts';
import { openHive } from '../../src/open-hive.ts';
import { childEnvironment, outputOf, readOutput, spawnChild, spawnHive } from '../support/children.ts';
import { answerDialog, fireDialog, openDesk } from '../support/dialogs.ts';
import {
  eventsOf,
  introduction,
  noticesOf,
  openTestHive,
  recordingLog,
  SEAT,
  SEAT_SECRET,
} from '../support/hive.ts';
import { fire, said } from '../support/hooks.ts';
import { trustFileOf, trusting } from '../support/human-file.ts';
import { closedAtEnd, whenFinished } from '../support/lifetime.ts';
import { openDeskHere, startSidecar } from '../support/sidecar.ts';
import { tempFolder, tempStore } from '../support/temp.ts';
import { eventually } from '../support/wait.ts';
import { BASH, type Columns, describeSeatContract, expectDenied, forge, YES } from './seat-contract.ts';

/** Opens a connection of somebody else, who can write the store. */
const openDriver = (address: string): Driver => openSqlite(address);
describeSeatContract('SQLite', ['sqlite', 'hook'], { freshAddress: async () => tempStore(), openDriver });

test('a signature is valid only for its store, ask, digest, decision and time', async () => {
  const key = seatKeyFrom(SEAT_SECRET);
  const signed: SignedAnswer = {
    store_id: 'store-1',
    ask_id: 'ask-1',
    displayed_digest: 'abc',
    answer: {
      decision: 'Allow',
      selected: ['Allow'],
      comment: null,
      by: 'ada',
      via: 'emacs',
      attested: true,
      response_id: 'r-1',
      responded_at: '2026-01-01T00:00:00.000Z',
    },
  };
  const signature = await signAnswer(key, signed);
  expect(seatThatSigned([SEAT], signed, signature)).toEqual(SEAT);
  for (const [name, value] of Object.entries({
    store_id: 'store-2',
    ask_id: 'ask-2',
    displayed_digest: 'abd',
  }))
    expect(seatThatSigned([SEAT], { ...signed, [name]: value }, signature), name).toBeNull();
  for (const [name, value] of Object.entries({
    decision: 'Allow always',
    selected: ['Allow', 'x'],
    comment: '',
    by: 'root',
    via: 'cli',
    attested: false,
    response_id: 'r-2',
    responded_at: '2026-01-01T00:00:00.001Z',
  })) {
    const other = { ...signed, answer: { ...signed.answer, [name]: value } };
    expect(seatThatSigned([SEAT], other, signature), name).toBeNull();
  }
  for (const wrong of [null, '', 'x', signature.slice(1), signature.toUpperCase()])
    expect(seatThatSigned([SEAT], signed, wrong)).toBeNull();
  expect(seatThatSigned([], signed, signature)).toBeNull();
});

test('a key that the human removes from trust.json allows nothing from then on', async () => {
  const hive = await openTestHive();
  await openDesk(hive);
  let seats = [SEAT];
  const { answer } = await fireDialog(hive, BASH, { surroundings: { seats: () => seats } });
  expect(said(await answer('Allow'))?.hookSpecificOutput).toMatchObject({ decision: { behavior: 'allow' } });
  const second = await fireDialog(hive, BASH, { surroundings: { seats: () => seats } });
  seats = [];
  await answerDialog(hive, second.prompts[0]?.ask_id ?? '', 'Allow');
  await expectDenied(second.printed);
});

test('a plan is approved by a signed answer only', async () => {
  const hive = await openTestHive();
  await openDesk(hive);
  const plan = { ...BASH, tool_name: 'ExitPlanMode', tool_input: { plan: 'Delete everything.' } };
  const { prompts, printed } = await fireDialog(hive, plan, { surroundings: { seats: () => [] } });
  await answerDialog(hive, prompts[0]?.ask_id ?? '', 'Approve');
  await expectDenied(printed);
});

describe('a hook and a sidecar of their own', () => {
  async function connect(store: string, env: Record<string, string>, seat_key: string | null = SEAT_SECRET) {
    const sidecar = await openDeskHere(store, { env, seat_key });
    return { store, sidecar, hello: sidecar.hello };
  }

  const start = (env: Record<string, string>) => connect(tempStore(), env);

  /** The output of `hive hook`, once Emacs has answered its permission with this. */
  async function answered(
    { store, sidecar }: Pick<Awaited<ReturnType<typeof start>>, 'store' | 'sidecar'>,
    env: Record<string, string>,
  ): Promise<ReturnType<typeof said>> {
    const hook = spawnHive(['hook', '--client', 'claude-code'], childEnvironment(store, env));
    const out = readOutput(hook);
    hook.process.stdin.end(JSON.stringify({ ...BASH, session_id: `s-${hook.pid}` }));
    const seen = sidecar.frames.length;
    let asked: { ask_id: string } | undefined;
    await eventually(() => {
      asked = sidecar.frames.slice(seen).find(({ method }) => method === 'hivemind-ask')?.params;
      return asked !== undefined;
    });
    if (asked === undefined) throw new Error('Nothing was asked.');
    const { ask_id } = asked;
    const { digest: displayed_digest } = (await sidecar.request('prompt/get', { ask_id })).prompt;
    await sidecar.request('hivemind-response', { ask_id, decision: 'Allow', displayed_digest });
    await hook.exited;
    return said(out());
  }

  test('the first key of a seat is registered, which is an event and a notice, and what it signs allows', async () => {
    const env = { XDG_CONFIG_HOME: tempFolder() };
    const store = tempStore();
    const sidecar = await startSidecar(store, { env, seat_key: SEAT_SECRET });
    expect(sidecar.hello.seat).toMatchObject({
      registered: true,
      is_new: true,
      text: expect.stringContaining('Registered this seat'),
    });
    const file = trustFileOf(env.XDG_CONFIG_HOME);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual({
      seats: [{ name: thisSeat(), key: SEAT.key, stores: [store] }],
    });
    const hive = await openTestHive(store);
    expect((await eventsOf(hive, 'seat/registered')).map(({ data }) => data)).toMatchObject([
      { seat: thisSeat(), key: SEAT.key, store, via: 'emacs', admitted_by: null },
    ]);
    expect(await noticesOf(hive)).toEqual([expect.stringContaining('Registered this seat')]);
    expect((await answered({ store, sidecar }, env))?.hookSpecificOutput).toMatchObject({
      decision: { behavior: 'allow' },
    });
  });

  const denied = { decision: { behavior: 'deny' } };
  const allowed = { decision: { behavior: 'allow' } };
  const OTHER = '00'.repeat(32);
  const other = { name: 'ada@elsewhere', key: seatKeyFrom(OTHER).key };

  const fileOf = (env: { XDG_CONFIG_HOME: string }): unknown =>
    JSON.parse(readFileSync(trustFileOf(env.XDG_CONFIG_HOME), 'utf8'));

  test('without a key, or with one that is not registered, Emacs allows nothing', async () => {
    const env = { XDG_CONFIG_HOME: tempFolder() };
    const store = tempStore();
    const keyless = await connect(store, env, null);
    expect(keyless.hello.seat).toBeNull();
    expect((await answered(keyless, env))?.hookSpecificOutput).toMatchObject(denied);
    addSeat(env, other);
    const second = await connect(store, env, SEAT_SECRET);
    expect(second.hello.seat).toMatchObject({
      registered: false,
      text: expect.stringContaining('M-x hive-doctor says how to register it'),
    });
    expect((await answered(second, env))?.hookSpecificOutput).toMatchObject(denied);
    const { checks } = await second.sidecar.request('doctor/run');
    expect(checks).toContainEqual(
      expect.objectContaining({ name: 'Seat', state: 'broken', advice: expect.stringContaining(SEAT.key) }),
    );
  });

  test('a further key does not register itself, and an Emacs that has it registers no other', async () => {
    const env = { XDG_CONFIG_HOME: tempFolder() };
    const { store } = await start(env);
    const before = fileOf(env);
    const { sidecar, hello } = await connect(store, env, OTHER);
    expect(hello.seat).toMatchObject({ registered: false, is_new: false });
    for (const params of [{}, other, { ...other, name: thisSeat() }, { name: 'x', key: SEAT.key }])
      await expect(sidecar.request('seat/register', params)).rejects.toThrow(/invalid_input/);
    expect(fileOf(env)).toEqual(before);
    expect((await answered({ store, sidecar }, env))?.hookSpecificOutput).toMatchObject(denied);
  });

  test('a further key is registered by an Emacs whose own key is, and counts from then on', async () => {
    const env = { XDG_CONFIG_HOME: tempFolder() };
    const { store, sidecar } = await start(env);
    expect(await sidecar.request('seat/register', other)).toMatchObject({ registered: true, is_new: true });
    const entry = { ...other, stores: [store] };
    expect(fileOf(env)).toEqual({ seats: [{ name: thisSeat(), key: SEAT.key, stores: [store] }, entry] });
    const hive = await openTestHive(store);
    expect((await eventsOf(hive, 'seat/registered'))[1]?.data).toMatchObject({ admitted_by: SEAT.key });
    const second = await connect(store, env, OTHER);
    expect(second.hello.seat).toMatchObject({ registered: true, is_new: false });
    expect((await answered(second, env))?.hookSpecificOutput).toMatchObject(allowed);
  });

  test('a key is valid in the stores where it was registered, and the human can allow it in a further one', async () => {
    const env = { XDG_CONFIG_HOME: tempFolder() };
    const one = await start(env);
    // A stranger's own store adds no seat to the file, not even for that store.
    const strange = await connect(tempStore(), env, OTHER);
    expect(strange.hello.seat).toMatchObject({ registered: false });
    const two = await connect(tempStore(), env, SEAT_SECRET);
    expect(two.hello.seat).toMatchObject({ registered: true, is_new: true });
    expect(fileOf(env)).toEqual({
      seats: [{ name: thisSeat(), key: SEAT.key, stores: [one.store, two.store] }],
    });
    expect((await answered(two, env))?.hookSpecificOutput).toMatchObject(allowed);
    const three = tempStore();
    addSeat(env, { ...other, stores: [three] });
    const third = await connect(three, env, SEAT_SECRET);
    expect(third.hello.seat).toMatchObject({ registered: false });
    expect((await answered(third, env))?.hookSpecificOutput).toMatchObject(denied);
    const fourth = await connect(three, env, OTHER);
    expect((await answered(fourth, env))?.hookSpecificOutput).toMatchObject(allowed);
  });

  test('if the human has written an empty list, no seat registers itself', async () => {
    const env = trusting({ seats: [] }) as { XDG_CONFIG_HOME: string };
    const { hello } = await start(env);
    expect(hello.seat).toMatchObject({ registered: false, text: expect.stringContaining('is empty') });
    expect(fileOf(env)).toEqual({ seats: [] });
  });

  /** A real ssh-agent with a key, which asks the program `confirm` before each use. */
  async function sshAgent(confirm: string) {
    const folder = tempFolder();
    const [socket, file] = [join(folder, 'agent'), join(folder, 'key')];
    const person = { PATH: process.env['PATH'] ?? '', HOME: folder, SSH_AUTH_SOCK: socket };
    const asks = { SSH_ASKPASS: confirm, SSH_ASKPASS_REQUIRE: 'force', DISPLAY: ':none' };
    spawnChild('ssh-agent', ['-D', '-a', socket], { ...person, ...asks });
    await eventually(() => existsSync(socket), 10_000, 'the agent');
    const run = (program: string, ...args: string[]) => outputOf(spawnChild(program, args, person));
    await run('ssh-keygen', '-q', '-t', 'ed25519', '-N', '', '-C', 'ada@here', '-f', file);
    await run('ssh-add', '-q', '-c', file);
    const env = trusting({ ssh_agent_key: readFileSync(`${file}.pub`, 'utf8') }) as {
      XDG_CONFIG_HOME: string;
    };
    return { env: { ...env, SSH_AUTH_SOCK: socket }, forget: () => run('ssh-add', '-q', '-D') };
  }

  test('the key of an SSH agent signs in place of it, where the human has named one', async () => {
    const { env, forget } = await sshAgent('/bin/true');
    const before = fileOf(env);
    const { store, sidecar, hello } = await start(env);
    expect(hello.seat).toMatchObject({ registered: true, is_new: false });
    expect((await answered({ store, sidecar }, env))?.hookSpecificOutput).toMatchObject(allowed);
    expect(fileOf(env)).toEqual(before);
    await forget();
    await expect(answered({ store, sidecar }, env)).rejects.toThrow(/SSH agent signed nothing/);
    const hive = await openTestHive(store);
    expect((await hive.prompts.list({ status: 'pending', limit: 9 })).items).toHaveLength(1);
  });

  test('what the human does not confirm to their SSH agent is not allowed', async () => {
    const { env } = await sshAgent('/bin/false');
    const { store, sidecar } = await start(env);
    await expect(answered({ store, sidecar }, env)).rejects.toThrow(/you did not confirm/);
    const hive = await openTestHive(store);
    expect((await hive.prompts.list({ status: 'pending', limit: 9 })).items).toHaveLength(1);
  });

  test('the agent of GnuPG signs in its place as well', async () => {
    const home = mkdtempSync(join(tmpdir(), 'g-'));
    const person = { PATH: process.env['PATH'] ?? '', HOME: home, GNUPGHOME: home };
    const run = (program: string, ...args: string[]) => outputOf(spawnChild(program, args, person));
    whenFinished(async () => {
      await run('gpgconf', '--kill', 'gpg-agent');
      rmSync(home, { recursive: true });
    });
    writeFileSync(join(home, 'gpg-agent.conf'), 'enable-ssh-support\n');
    const made = ['--quick-generate-key', 'ada', 'ed25519', 'auth', 'never'];
    await run('gpg', '--batch', '--quiet', '--passphrase', '', ...made);
    const listed = await run('gpg', '--batch', '--with-colons', '--with-keygrip', '--list-keys');
    writeFileSync(join(home, 'sshcontrol'), `${/^grp:+([0-9A-F]+):/m.exec(listed)?.[1]}\n`);
    const SSH_AUTH_SOCK = (await run('gpgconf', '--list-dirs', 'agent-ssh-socket')).trim();
    const ssh_agent_key = await run('gpg', '--batch', '--export-ssh-key', 'ada');
    const env = { ...trusting({ ssh_agent_key }), SSH_AUTH_SOCK } as unknown as { XDG_CONFIG_HOME: string };
    const { store, sidecar } = await start(env);
    expect((await answered({ store, sidecar }, env))?.hookSpecificOutput).toMatchObject(allowed);
  });

  test('only the line of a key that can sign is accepted', () => {
    const rsa = 'ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABgQ== ada';
    const hardware = 'sk-ssh-ed25519@openssh.com AAAAGnNrLXNzaC1lZDI1NTE5QG9wZW5zc2guY29t ada';
    for (const ssh_agent_key of [rsa, hardware, '', 7, 'ssh-ed25519', 'ssh-ed25519 AAAA', { key: 'x' }]) {
      const { problems, seats } = humanTrust(trusting({ ssh_agent_key, seats: [SEAT] }));
      expect(problems).toEqual([expect.stringContaining('ssh_agent_key')]);
      expect(seats).toEqual([]);
    }
  });

  test('a file that does not count registers no seat', async () => {
    const broken = trusting('{"popup_permissions": true,}');
    expect((await start(broken)).hello.seat).toMatchObject({
      registered: false,
      text: expect.stringContaining('is not valid JSON'),
    });
  });
});

/** Why this process registers no seat. */
async function refusal(env: Record<string, string>): Promise<string | null> {
  const hive = closedAtEnd(await openHive({ store: tempStore(), env, log: recordingLog() }));
  await hive.sessions.introduce(introduction({ machine: hostname(), pid: process.ppid }));
  hive.seats.useKey(SEAT_SECRET);
  const state = await hive.seats.register({ pid: process.pid, via: 'emacs' });
  expect(state).toMatchObject({ registered: false, is_new: false });
  return state.text;
}

test('an agent registers no seat: its variables and its process reveal it, and a yes changes nothing', async () => {
  const env = { XDG_CONFIG_HOME: tempFolder() };
  expect(await refusal({ ...env, CLAUDECODE: '1' })).toContain('CLAUDECODE is set');
  expect(await refusal(env)).toContain('started this process');
  expect(humanTrust(env)).toMatchObject({ seats: [], digest: null });
});

describe('registering', () => {
  test('leaves what the human wrote in place', async () => {
    const text = '{\n  "permission_rules": [],\n\n  "popup_permissions": true\n}\n';
    const env = trusting(text);
    addSeat(env, SEAT);
    const after = readFileSync(trustFileOf(env['XDG_CONFIG_HOME']), 'utf8');
    expect(after.startsWith(text.slice(0, text.indexOf('true') + 4))).toBe(true);
    expect(humanTrust(env)).toMatchObject({ problems: [], popup_permissions: true, seats: [SEAT] });
    addSeat(env, { name: 'b', key: seatKeyFrom('00'.repeat(32)).key });
    expect(humanTrust(env)).toMatchObject({
      problems: [],
      popup_permissions: true,
      seats: [SEAT, { name: 'b' }],
    });
    const bare = { XDG_CONFIG_HOME: tempFolder() };
    addSeat(bare, SEAT);
    expect(humanTrust(bare)).toMatchObject({ problems: [], seats: [SEAT] });
  });

  test('the key file is private, and one that others can read is refused', () => {
    const env = { XDG_CONFIG_HOME: tempFolder() };
    const secret = seatSecret(env);
    expect(secret).toMatch(/^[0-9a-f]{64}$/);
    expect(seatSecret(env)).toBe(secret);
    const file = join(env.XDG_CONFIG_HOME, 'hive/seat.key');
    expect(statSync(file).mode & 0o777).toBe(0o600);
    chmodSync(file, 0o644);
    expect(() => seatSecret(env)).toThrow(/open to other users/);
  });
});

describe('a permission that a model asks for in its own words', () => {
  /** The words of a poll and a hook about it, once its row has these columns. */
  async function told(columns: Columns | null, sign = true) {
    const address = tempStore();
    const hive = await openTestHive(address);
    const session = await hive.sessions.introduce(introduction());
    const asking = { question: 'May I?', kind: 'permission', options: ['Allow', 'Deny'] } as const;
    const { prompt } = await hive.prompts.ask(asking, session);
    const { ask_id } = prompt;
    if (sign) await answerDialog(hive, ask_id, columns === null ? 'Allow' : 'Deny');
    const driver = closedAtEnd(openSqlite(address));
    if (columns !== null) await forge(driver, ask_id, columns);
    const [polled] = await hive.delivery.hand([ask_id], 'mcp:1', 'another-session');
    const hooked = await fire(hive, {
      ...{ hook_event_name: 'UserPromptSubmit', session_id: session.session_id, cwd: '/', prompt: 'go on' },
    });
    if (polled === undefined) throw new Error('Nothing was handed over.');
    return {
      view: promptView(polled),
      hooked: said(hooked)?.hookSpecificOutput?.['additionalContext'] ?? '',
    };
  }

  test('is allowed by a signed answer', async () => {
    const { view, hooked } = await told(null);
    expect(view).toMatchObject({ decision: 'Allow', next: 'ada answered. Act on it.' });
    expect(view).not.toHaveProperty('attested');
    expect(hooked).toContain('Allow');
    expect(hooked).not.toContain('allows nothing');
  });

  test.each<[string, Columns, boolean]>([
    ['nobody answered', YES, false],
    ['the human denied', { decision: 'Allow', selected: '["Allow"]' }, true],
    [
      'nobody answered in time, as if it came late',
      {
        status: 'expired',
        settled_at: '2026-01-01T00:00:00.000Z',
        late_response: JSON.stringify({
          ...{ decision: 'Allow', selected: ['Allow'], comment: null, by: 'ada', via: 'emacs' },
          ...{ attested: true, response_id: 'r', responded_at: '2026-01-01T00:00:00.000Z' },
        }),
      },
      false,
    ],
  ])('a forged row allows nothing where %s, and the model is told so', async (_what, columns, sign) => {
    const { view, hooked } = await told(columns, sign);
    expect(view['next']).toContain('it allows nothing. Take it as a no');
    expect(view['next']).not.toContain('Act on it');
    expect(JSON.stringify(view)).toContain('"attested":false');
    // Without an answer nothing is owed to the agent, and its hooks deliver nothing.
    if (sign) expect(hooked).toContain('it allows nothing. Take it as a no');
    else expect(hooked).toBe('');
  });
});
