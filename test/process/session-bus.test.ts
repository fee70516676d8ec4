/** Where the bus of the person is looked for: an agent's process often has no variable that says so. */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, it } from 'vitest';
import { sessionBus } from '../../src/infrastructure/desktop/notify-send.ts';
import { tempFolder } from '../support/temp.ts';

const UID = 1_234;
let users: string;
let runtime: string;

/** A socket's place: whoever looks asks only whether something is there. */
function bus(folder: string): string {
  mkdirSync(folder, { recursive: true });
  const socket = join(folder, 'bus');
  writeFileSync(socket, '');
  return `unix:path=${socket}`;
}

beforeEach(() => {
  users = tempFolder();
  runtime = join(tempFolder(), 'runtime');
});

it('is what the environment says, whatever lies in the usual places', () => {
  bus(join(users, String(UID)));
  bus(runtime);
  const env = { DBUS_SESSION_BUS_ADDRESS: 'unix:abstract=elsewhere', XDG_RUNTIME_DIR: runtime };
  expect(sessionBus(env, UID, users)).toBe('unix:abstract=elsewhere');
});

it('is none where that is wished', () => {
  bus(join(users, String(UID)));
  expect(sessionBus({ DBUS_SESSION_BUS_ADDRESS: 'disabled:' }, UID, users)).toBeNull();
});

it.each([{}, { DBUS_SESSION_BUS_ADDRESS: '', XDG_RUNTIME_DIR: '' }])(
  "is in the user's own folder when the environment says nothing: %j",
  (env) => {
    const address = bus(join(users, String(UID)));
    bus(join(users, '999'));
    expect(sessionBus(env, UID, users)).toBe(address);
  },
);

it("is in XDG_RUNTIME_DIR before the user's own folder, as long as it is there", () => {
  const own = bus(join(users, String(UID)));
  const given = bus(runtime);
  const env = { XDG_RUNTIME_DIR: runtime };
  expect(sessionBus(env, UID, users)).toBe(given);
  rmSync(join(runtime, 'bus'));
  expect(sessionBus(env, UID, users)).toBe(own);
});

it("is none where there is no such socket, and never another user's", () => {
  bus(join(users, '999'));
  expect(sessionBus({ XDG_RUNTIME_DIR: runtime }, UID, users)).toBeNull();
});
