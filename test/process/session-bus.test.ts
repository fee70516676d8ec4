/** Where Hive looks for the person's bus: an agent's process often has no variable for it. */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, it } from 'vitest';
import { sessionBus } from '../../src/infrastructure/desktop/notify-send.ts';
import { tempFolder } from '../support/temp.ts';

const UID = 1_234;
let users: string;
let runtime: string;

/** The path of a socket: only its existence is checked. */
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

it('is the one in the environment, whatever is in the usual places', () => {
  bus(join(users, String(UID)));
  bus(runtime);
  const env = { DBUS_SESSION_BUS_ADDRESS: 'unix:abstract=elsewhere', XDG_RUNTIME_DIR: runtime };
  expect(sessionBus(env, UID, users)).toBe('unix:abstract=elsewhere');
});

it('is none if the environment says so', () => {
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

it("is in XDG_RUNTIME_DIR if it exists there, else in the user's own folder", () => {
  const own = bus(join(users, String(UID)));
  const given = bus(runtime);
  const env = { XDG_RUNTIME_DIR: runtime };
  expect(sessionBus(env, UID, users)).toBe(given);
  rmSync(join(runtime, 'bus'));
  expect(sessionBus(env, UID, users)).toBe(own);
});

it("is none if there is no such socket, and never another user's", () => {
  bus(join(users, '999'));
  expect(sessionBus({ XDG_RUNTIME_DIR: runtime }, UID, users)).toBeNull();
});
