/**
 * A device answers for its human from anywhere. Only what it signed itself, for this very permission and just now, allows
 * anything, and only if its human listed its key.
 *
 * @module-tag as-displayed
 * @module-tag no-authority
 * @module-tag provenance
 * @module-tag no-self-approval
 */
import { chmodSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { permissionDigest } from '../../src/domain/permissions.ts';
import type { Prompt } from '../../src/domain/prompts.ts';
import { pairingText, sessionText } from '../../src/extensions/inbox/device.ts';
import { allow } from '../../src/extensions/inbox/devices.ts';
import { createDevices, type DeviceService, devicesOf } from '../../src/extensions/inbox/service.ts';
import { humanTrust } from '../../src/infrastructure/platform/human-file.ts';
import { randomIds, randomSecrets } from '../../src/infrastructure/platform/ids.ts';
import { confirmedFile } from '../../src/infrastructure/platform/paths.ts';
import { addSeat } from '../../src/infrastructure/platform/seat-file.ts';
import { type OpenedHive, openHive } from '../../src/open-hive.ts';
import { randomOf } from '../chaos/random.ts';
import { shell } from '../support/cli.ts';
import { callAs, newKey, type PairedDevice, pair, type Said, signedParams } from '../support/devices.ts';
import { fireDialog, openDesk } from '../support/dialogs.ts';
import { ask, newHive, noticesOf, openTestHive, recordingLog, SEAT, SEAT_SECRET } from '../support/hive.ts';
import { recordedEvent, said } from '../support/hooks.ts';
import { trusting } from '../support/human-file.ts';
import { beforeFile, closedAtEnd } from '../support/lifetime.ts';
import { type SharedPostgres, sharedPostgres } from '../support/shared-postgres.ts';
import { INITIALIZE, openDeskHere } from '../support/sidecar.ts';
import { tempStore } from '../support/temp.ts';

const BASH = recordedEvent('claude-code/PermissionRequest-Bash-addRules.json');
const ATTACKS = 500;

let server: SharedPostgres;
beforeFile(async () => {
  server = await sharedPostgres();
});

const ADDRESSES = {
  SQLite: async () => tempStore(),
  PostgreSQL: async () => server.address(),
};

/** A hive whose human has let `allowed` allow permissions, and has another phone that only answers. */
async function household(engine: keyof typeof ADDRESSES): Promise<{
  hive: OpenedHive;
  allowed: PairedDevice;
  other: PairedDevice;
  permission: (command: string) => Promise<Waiting>;
}> {
  const env = trusting({ seats: [SEAT] });
  const hive = closedAtEnd(await openHive({ store: await ADDRESSES[engine](), env, log: recordingLog() }));
  hive.seats.useKey(SEAT_SECRET);
  await openDesk(hive);
  const allowed = await pair(hive, 'Allowed');
  const other = await pair(hive, 'Other');
  addSeat(env, { name: 'Allowed', key: allowed.seat.key });
  const surroundings = { seats: () => humanTrust(env).seats };
  return {
    hive,
    allowed,
    other,
    async permission(command) {
      const { prompts, printed } = await fireDialog(
        hive,
        { ...BASH, tool_input: { command } },
        { surroundings },
      );
      const [prompt] = prompts;
      if (prompt === undefined) throw new Error('Nothing was asked.');
      return { prompt, printed };
    },
  };
}

interface Waiting {
  prompt: Prompt;
  printed: Promise<string>;
}

const now = async (hive: OpenedHive, offset_ms = 0): Promise<string> =>
  new Date(Date.parse(await hive.history.now()) + offset_ms).toISOString();

const answer = (hive: OpenedHive, { device }: PairedDevice, params: object): Promise<object | null> =>
  callAs(hive, device, 'hivemind-response', params);

const behaviour = async (printed: Promise<string>): Promise<unknown> =>
  said(await printed)?.hookSpecificOutput;

const REFUSED = /^(not_allowed|answer_stale|wrong_store|idempotency_conflict|invalid_\w+|prompt_not_found)$/;

const TAGS = { SQLite: ['sqlite', 'http'], PostgreSQL: ['postgres', 'http'] };
describe.each(['SQLite', 'PostgreSQL'] as const)('on %s', (engine) => {
  describe('a device', { tags: TAGS[engine] }, () => {
    test('that its human let allow permissions allows one, and the same answer again is the same answer', async () => {
      const { hive, allowed, permission } = await household(engine);
      const { prompt, printed } = await permission('make');
      const given = { decision: 'Allow', response_id: 'r-1', responded_at: await now(hive) };
      const params = await signedParams(hive, allowed.seat, prompt, given);
      expect(await answer(hive, allowed, params)).toMatchObject({ accepted: true, via: 'inbox', by: 'ada' });
      expect(await answer(hive, allowed, params)).toMatchObject({ accepted: true });
      const changed = await signedParams(hive, allowed.seat, prompt, { ...given, decision: 'Deny' });
      await answer(hive, allowed, changed);
      expect(await hive.prompts.get(prompt.ask_id)).toMatchObject({
        decision: 'Allow',
        by: 'ada',
        via: 'inbox',
        attested: true,
      });
      const question = await ask(hive, { question: 'Which colour?' });
      const red = { decision: 'red', response_id: 'r-2', responded_at: await now(hive) };
      const own = await signedParams(hive, allowed.seat, question, red);
      expect(await answer(hive, allowed, own)).toMatchObject({ accepted: true, attested: true });
      expect(await behaviour(printed)).toMatchObject({ decision: { behavior: 'allow' } });
    });

    test('that only answers questions allows nothing, and says no as it likes', async () => {
      const { hive, other, permission } = await household(engine);
      const { prompt, printed } = await permission('make');
      const said = async (decision: string): Promise<Record<string, unknown>> =>
        signedParams(hive, other.seat, prompt, {
          decision,
          response_id: `r-${decision}`,
          responded_at: await now(hive),
        });
      await expect(answer(hive, other, await said('Allow'))).rejects.toMatchObject({ code: 'not_allowed' });
      // It still waits for somebody who may.
      expect(await hive.prompts.get(prompt.ask_id)).toMatchObject({ status: 'pending' });
      await answer(hive, other, await said('Deny'));
      expect(await behaviour(printed)).toMatchObject({ decision: { behavior: 'deny' } });
    });

    test(`has ${ATTACKS} forged, replayed, altered, stale and foreign answers refused, and then its own counts`, async () => {
      const { hive, allowed, other, permission } = await household(engine);
      const [target, second, before] = [
        await permission('rm -rf build'),
        await permission('git push'),
        await permission('make'),
      ];
      const stranger = newKey();
      const earlier = await signedParams(hive, allowed.seat, before.prompt, {
        decision: 'Allow',
        response_id: 'earlier',
        responded_at: await now(hive),
      });
      await answer(hive, allowed, earlier);
      await before.printed;
      const { next: random, pick } = randomOf(21, engine);
      const at = await now(hive);
      const { prompt } = target;
      let made = 0;
      const sign = (changes: Partial<Said> = {}, seat = allowed.seat): Promise<Record<string, unknown>> => {
        made += 1;
        return signedParams(hive, seat, prompt, {
          decision: 'Allow',
          response_id: `attack-${made}`,
          responded_at: at,
          ...changes,
        });
      };
      const attacks: Record<string, () => Promise<Record<string, unknown>>> = {
        forged: async () => ({
          ...(await sign()),
          signature: Buffer.from(Array.from({ length: 64 }, () => Math.floor(random() * 256))).toString(
            'base64url',
          ),
        }),
        'signed by a stranger': () => sign({}, stranger),
        'signed by another device of the same human': () => sign({}, other.seat),
        'a denial turned round': async () => ({ ...(await sign({ decision: 'Deny' })), decision: 'Allow' }),
        'with another comment': async () => ({ ...(await sign()), comment: 'and push' }),
        'with another time': async () => ({
          ...(await sign()),
          responded_at: await now(hive, 1 + Math.floor(random() * 1_000)),
        }),
        'with another response_id': async () => ({ ...(await sign()), response_id: `other-${made}` }),
        'without a signature': async () => ({ ...(await sign()), signature: null }),
        'one byte of the signature': async () => {
          const params = await sign();
          const bytes = Buffer.from(String(params['signature']), 'base64url');
          const index = Math.floor(random() * bytes.length);
          bytes[index] = (bytes[index] ?? 0) ^ (1 << Math.floor(random() * 8));
          return { ...params, signature: bytes.toString('base64url') };
        },
        'of an earlier permission': async () => ({
          ...earlier,
          ask_id: prompt.ask_id,
          response_id: `again-${made}`,
        }),
        'of an earlier permission, unchanged but for the ask_id': async () => ({
          ...earlier,
          ask_id: prompt.ask_id,
        }),
        'for another permission': async () => ({ ...(await sign()), ask_id: second.prompt.ask_id }),
        'for what was not displayed': async () => ({
          ...(await sign()),
          displayed_digest: permissionDigest(second.prompt),
        }),
        'signed for what was not displayed': () =>
          sign({ displayed_digest: permissionDigest(second.prompt) }),
        'for another store': () => sign({ store_id: 'store-0000000000000000' }),
        'signed for another store': async () => ({
          ...(await sign({ store_id: 'store-0000000000000000' })),
          store_id: hive.store_id,
        }),
        'in the name of another human': () => sign({ by: pick(['root', 'grace', '']) }),
        'too old': async () =>
          sign({ responded_at: await now(hive, -(121_000 + Math.floor(random() * 86_400_000))) }),
        'from the future': async () =>
          sign({ responded_at: await now(hive, 125_000 + Math.floor(random() * 86_400_000)) }),
        'a signature of something else': async () => {
          const code = '7k3m9q2x';
          const texts = [
            pairingText({ code, key: allowed.seat.key }),
            sessionText({
              store_id: hive.store_id,
              device_id: allowed.device.device_id,
              challenge: 'x',
              origin: 'y',
            }),
          ];
          return { ...(await sign()), signature: await allowed.seat.sign(pick(texts)) };
        },
      };
      const names = Object.keys(attacks);
      const tried = new Map<string, number>();
      for (let number = 0; number < ATTACKS; number += 1) {
        const name = number < names.length ? (names[number] ?? '') : pick(names);
        tried.set(name, (tried.get(name) ?? 0) + 1);
        const params = await attacks[name]?.();
        const refused = await answer(hive, allowed, params ?? {}).then(
          (reply) => `accepted: ${JSON.stringify(reply)}`,
          (error: { code?: string }) => error.code,
        );
        expect(refused, name).toMatch(REFUSED);
      }
      expect(tried.size).toBe(names.length);
      for (const { ask_id } of [prompt, second.prompt])
        expect(await hive.prompts.get(ask_id)).toMatchObject({ status: 'pending', late_response: null });
      const own = await sign({ responded_at: await now(hive) });
      expect(await answer(hive, allowed, own)).toMatchObject({ accepted: true });
      expect(await behaviour(target.printed)).toMatchObject({ decision: { behavior: 'allow' } });
      const { prompt: asked } = second;
      const no = { decision: 'Deny', response_id: 'no', responded_at: await now(hive) };
      await answer(hive, allowed, await signedParams(hive, allowed.seat, asked, no));
      await second.printed;
    });

    test('answers a question an hour later, and not in the words of another', async () => {
      const { hive, other } = await household(engine);
      const prompt = await ask(hive, { question: 'Which colour?' });
      const given = { decision: 'red', response_id: 'r-1', responded_at: await now(hive, -3_600_000) };
      const params = await signedParams(hive, other.seat, prompt, given);
      await expect(answer(hive, other, { ...params, decision: 'blue' })).rejects.toMatchObject({
        code: 'not_allowed',
      });
      expect(await answer(hive, other, params)).toMatchObject({ accepted: true });
      expect(await hive.prompts.get(prompt.ask_id)).toMatchObject({ decision: 'red', via: 'inbox' });
    });

    test('corrects its answer with a signature of the correction, from now if it may allow something', async () => {
      const { hive, other, allowed } = await household(engine);
      const prompt = await ask(hive, { question: 'Which colour?' });
      const given = { decision: 'red', response_id: 'r-1', responded_at: await now(hive) };
      expect(await answer(hive, other, await signedParams(hive, other.seat, prompt, given))).toMatchObject({
        attested: false,
      });
      const correction = await signedParams(hive, other.seat, prompt, {
        ...given,
        decision: 'blue',
        response_id: 'r-2',
      });
      const amend = (by: PairedDevice, params: object): Promise<object | null> =>
        callAs(hive, by.device, 'prompt/amend', params);
      await expect(amend(other, { ...correction, decision: 'green' })).rejects.toMatchObject({
        code: 'not_allowed',
      });
      await expect(amend(allowed, correction)).rejects.toMatchObject({ code: 'not_allowed' });
      expect(await amend(other, correction)).toMatchObject({ accepted: true });
      const stored = await hive.prompts.get(prompt.ask_id);
      expect(stored).toMatchObject({ decision: 'blue', amended: true, attested: false });
    });

    test('never has the key of this machine sign for it', async () => {
      const { hive, permission } = await household(engine);
      const { prompt, printed } = await permission('make');
      await hive.prompts.respond({
        ask_id: prompt.ask_id,
        decision: 'Allow',
        displayed_digest: permissionDigest(prompt),
        actor: { kind: 'human', by: 'ada', via: 'inbox', confirmed: true },
      });
      expect(await behaviour(printed)).toMatchObject({ decision: { behavior: 'deny' } });
    });

    test('that somebody wrote into the store, or whose key they replaced, allows nothing', async () => {
      const { hive, allowed, permission } = await household(engine);
      const stranger = newKey();
      await hive.store.write(async (tx) => {
        const { device } = allowed;
        await tx.devices.put({ ...device, device_id: 'device-forged', name: 'Forged', key: newKey().key });
        await tx.devices.put({ ...device, key: stranger.key });
      });
      for (const device of await devicesOf(hive).list()) {
        if (device.name === 'Other') continue;
        const seat = device.key === stranger.key ? stranger : allowed.seat;
        const { prompt, printed } = await permission(`make ${device.name}`);
        const given = { decision: 'Allow', response_id: device.device_id, responded_at: await now(hive) };
        const params = await signedParams(hive, seat, prompt, given);
        const tried = await answer(hive, { device, seat }, params).catch(() => null);
        if (tried === null)
          await hive.prompts.cancel(
            prompt.ask_id,
            { kind: 'human', by: 'ada', via: 'emacs', confirmed: true },
            'human',
          );
        expect(JSON.stringify(await behaviour(printed)) ?? '').not.toContain('"allow"');
      }
    });
  });
});

test('admitted: a desk without a key, such as that of an agent out of its process tree, pairs a phone: its answers are unattested', {
  tags: ['sqlite'],
}, async () => {
  const { store, hive } = await newHive();
  const desk = await openDeskHere(store);
  const { code } = (await desk.request('phone/invite', { url: 'https://hive.example.org' })) as {
    code: string;
  };
  const seat = newKey();
  const paired = await devicesOf(hive).pair({ code, name: "Ada's phone", key: seat.key });
  const { device_id, key } = paired;
  await desk.request('phone/confirm', { device_id, key });
  const device = await devicesOf(hive).find(device_id);
  const prompt = await ask(hive, { question: 'Which colour?' });
  const given = { decision: 'red', response_id: 'r-1', responded_at: await now(hive), by: INITIALIZE.human };
  const params = await signedParams(hive, seat, prompt, given);
  expect(await answer(hive, { device, seat }, params)).toMatchObject({ accepted: true, attested: false });
  expect(await hive.prompts.get(prompt.ask_id)).toMatchObject({ decision: 'red', attested: false });
});

describe('the key that its human has confirmed', { tags: ['sqlite'] }, () => {
  const letAllow = (hive: OpenedHive, device: string) =>
    allow(hive, { device, pid: process.pid, via: 'cli' });
  const CHANGED = /somebody who can write the store has changed it/;

  test('is not replaced by one that was written into the store while the phrase was on the screen', async () => {
    const hive = await openTestHive();
    const { code } = await devicesOf(hive).invite('ada');
    const device = await devicesOf(hive).pair({ code, name: 'Phone', key: newKey().key });
    await hive.store.write((tx) => tx.devices.put({ ...device, key: newKey().key }));
    await expect(devicesOf(hive).confirm(device, 'ada')).rejects.toThrow(CHANGED);
    expect(await devicesOf(hive).admitted(device.device_id)).toBeUndefined();
  });

  test('is the only one that may be let allow: not one that was written since, nor that of another phone', async () => {
    const hive = await openTestHive();
    const { device } = await pair(hive, 'Phone');
    const { device: other } = await pair(hive, 'Other');
    const before = hive.trust.file().seats;
    await hive.store.write((tx) => tx.devices.put({ ...device, key: newKey().key }));
    await expect(letAllow(hive, device.device_id)).rejects.toThrow(CHANGED);
    await hive.store.write(async (tx) => {
      await tx.devices.put({ ...device, name: 'Gone' });
      await tx.devices.put({ ...other, name: 'Phone' });
    });
    await expect(letAllow(hive, 'Phone')).rejects.toThrow(CHANGED);
    expect(hive.trust.file().seats).toEqual(before);
  });

  test('is known where it was confirmed only, and counts for nothing in a file that others may write', async () => {
    const hive = await openTestHive();
    const { device } = await pair(hive, 'Phone');
    const UNKNOWN = /no record on this machine that you confirmed Phone/;
    const env = trusting({});
    const elsewhere = closedAtEnd(await openHive({ store: hive.store.name, env }));
    await expect(letAllow(elsewhere, 'Phone')).rejects.toThrow(UNKNOWN);
    const planted = confirmedFile(env, hive.store_id);
    writeFileSync(planted, JSON.stringify({ [device.device_id]: { name: 'Phone', key: device.key } }));
    chmodSync(planted, 0o666);
    await expect(letAllow(elsewhere, 'Phone')).rejects.toThrow(UNKNOWN);
    chmodSync(planted, 0o600);
    // The process has no key of its own that counts.
    expect(await letAllow(elsewhere, 'Phone')).toMatchObject({ registered: false });
    writeFileSync(planted, '["not", "this"');
    await expect(letAllow(elsewhere, 'Phone')).rejects.toThrow(UNKNOWN);
  });

  test('is said not to be recorded where its file cannot be written; the phone answers questions all the same', async () => {
    const log = recordingLog();
    const env = trusting({ seats: [SEAT] });
    const hive = closedAtEnd(await openHive({ store: tempStore(), env, log }));
    // Nothing can be renamed over a folder.
    const file = confirmedFile(env, hive.store_id);
    mkdirSync(join(file, 'full'), { recursive: true });
    const { device } = await pair(hive, 'Phone');
    expect(log.lines).toEqual([
      expect.stringContaining('The key of Phone could not be recorded on this machine.'),
    ]);
    expect(await devicesOf(hive).admitted(device.device_id)).toMatchObject({ name: 'Phone' });
    await expect(letAllow(hive, 'Phone')).rejects.toThrow(
      /no record on this machine that you confirmed Phone/,
    );
  });
});

describe('pairing', { tags: ['sqlite', 'http'] }, () => {
  /** The devices of a hive, in a process whose clock a test moves. */
  function withClock(hive: OpenedHive): { devices: DeviceService; pass: (ms: number) => void } {
    let at = 0;
    const inbox = { read: () => null, write: () => () => undefined };
    const devices = createDevices(hive.store, {
      ids: randomIds,
      secrets: randomSecrets,
      inbox,
      confirmed_keys: { read: () => null, write: () => undefined },
      log: recordingLog(),
      clock: () => at,
    });
    return {
      devices,
      pass(ms) {
        at += ms;
      },
    };
  }

  const tryCode = (devices: DeviceService, code: string): Promise<string> =>
    devices.pair({ code, name: 'Guess', key: newKey().key }).then(
      () => 'paired',
      (error: { code: string }) => error.code,
    );

  test('codes cannot be guessed: five wrong ones a minute, and after twenty none that is open counts', async () => {
    const hive = await openTestHive();
    const { devices, pass } = withClock(hive);
    const { code } = await devices.invite('ada');
    const replies: string[] = [];
    for (let number = 0; number < 40; number += 1) {
      replies.push(await tryCode(devices, `0000000${number % 10}`));
      if (number % 8 === 7) pass(61_000);
    }
    expect(replies.filter((reply) => reply === 'pairing_refused').length).toBe(25);
    expect(replies.filter((reply) => reply === 'too_many').length).toBe(15);
    pass(61_000);
    expect(await tryCode(devices, code)).toBe('pairing_refused');
    expect(await devices.list()).toEqual([]);
    expect(await noticesOf(hive)).toEqual([expect.stringMatching(/many wrong pairing codes/)]);
    const { code: next } = await devices.invite('ada');
    expect(await tryCode(devices, next)).toBe('paired');
  });

  test('a code that was used, or is over, pairs nothing', async () => {
    const hive = await openTestHive();
    const { devices } = withClock(hive);
    const { code } = await devices.invite('ada');
    expect(await tryCode(devices, code)).toBe('paired');
    expect(await tryCode(devices, code)).toBe('pairing_refused');
    const late = await devices.invite('ada');
    await hive.store.write(async (tx) => {
      const pairing = await tx.devices.pairing(randomSecrets.digest(late.code));
      if (pairing !== undefined) await tx.devices.putPairing({ ...pairing, expires_at: tx.now });
    });
    expect(await tryCode(devices, late.code)).toBe('pairing_refused');
    expect(await devices.list()).toHaveLength(1);
  });

  test('the store has no code: only a digest, and only for ten minutes', async () => {
    const hive = await openTestHive();
    const { code, expires_at } = await devicesOf(hive).invite('ada');
    expect(JSON.stringify(await hive.history.eventsAfter(0, 1_000))).not.toContain(code);
    const pairing = await hive.store.read((tx) => tx.devices.pairing(randomSecrets.digest(code)));
    expect(JSON.stringify(pairing)).not.toContain(code);
    expect(Date.parse(expires_at) - Date.parse(await hive.history.now())).toBeLessThanOrEqual(600_000);
  });

  test.each([
    ['add', '--url', 'https://hive.example.org'],
    ['list'],
    ['allow', 'Phone'],
    ['revoke', 'Phone'],
  ])('an agent that runs hive phone %s is refused', async (...words) => {
    const { store, hive } = await newHive();
    await pair(hive, 'Phone');
    const agent = shell(store).as({ CLAUDECODE: '1' });
    expect(await agent.hive('phone', ...words)).toMatchObject({ code: 7, out: '' });
    expect(await devicesOf(hive).list()).toMatchObject([{ name: 'Phone', revoked_at: null }]);
  });

  test('what lets a phone in, or lets it allow, is typed by a person: a pipe is refused', async () => {
    const { store, hive } = await newHive();
    await pair(hive, 'Phone');
    const env = trusting({ seats: [SEAT], terminal_may_allow: true });
    for (const words of [
      ['add', '--url', 'https://hive.example.org'],
      ['allow', 'Phone'],
    ]) {
      const refused = await shell(store, env).hive('phone', ...words);
      expect(refused).toMatchObject({ code: 7, out: '' });
      expect(refused.err).toContain('must be confirmed at a terminal');
    }
  });

  test('the address of the inbox is not read from the store, nor from a file that others could write', async () => {
    const env = trusting({});
    const hive = closedAtEnd(await openHive({ store: tempStore(), env, log: recordingLog() }));
    await hive.store.write((tx) =>
      tx.desks.setPreferences('*', {
        inbox_url: 'https://evil.example/inbox',
        inbox: 'https://evil.example',
      }),
    );
    expect(devicesOf(hive).served()).toBeNull();
    const forget = devicesOf(hive).servedAt('https://hive.example.org/inbox');
    expect(devicesOf(hive).served()).toBe('https://hive.example.org/inbox');
    const folder = join(env['XDG_CONFIG_HOME'] ?? '', 'hive');
    const [file = ''] = readdirSync(folder).filter((name) => name.startsWith('inbox-'));
    chmodSync(join(folder, file), 0o666);
    expect(devicesOf(hive).served()).toBeNull();
    forget();
  });
});
