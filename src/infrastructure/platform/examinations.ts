/** The doctor's checks of this machine: Node and its SQLite, the store's file and folder, the desktop. */
import { statSync } from 'node:fs';
import { dirname } from 'node:path';
import { type Check, checkBroken, checkOk, type Examination } from '../../application/world.ts';
import { HiveError } from '../../domain/errors.ts';
import type { Environment } from '../../domain/sources.ts';
import { serverCapabilities, sessionBus } from '../desktop/notify-send.ts';
import type { StoreServer } from '../store/sql.ts';
import { checkSqliteVersion, findDamage } from '../store/sqlite-file.ts';
import { platform } from './platform.ts';
import { withoutProject } from './project-path.ts';

/** The checks that need no agent's configuration. */
export function examineMachine(address: string, env: Environment, server: StoreServer): Examination[] {
  return [
    { name: 'Node', examine: async () => [node()] },
    { name: 'SQLite', examine: async () => [sqlite()] },
    {
      name: 'Store',
      examine: async () => (address.includes('://') ? server.examine(address, env) : storeFile(address)),
    },
    { name: 'Notifications', examine: async () => [await desktop(withoutProject(env, process.cwd()))] },
  ];
}

function node(): Check {
  const isBrought = /[/\\]versions[/\\][^/\\]+[/\\]node_modules[/\\]/.test(process.execPath);
  const whose = isBrought ? ', installed by hive install' : '';
  return checkOk('Node', `${process.version} (${process.execPath})${whose}`);
}

function sqlite(): Check {
  const version = process.versions['sqlite'] ?? 'none';
  try {
    checkSqliteVersion(version);
    return checkOk('SQLite', version);
  } catch (error) {
    return checkBroken('SQLite', version, error instanceof HiveError ? error.message : String(error));
  }
}

const DAMAGED =
  'the file is damaged: stop every Hive and restore a backup with hive store restore FILE, or save what can be read with: sqlite3 FILE .recover';

function storeFile(address: string): Check[] {
  const { size, mode } = statSync(address);
  const folder = dirname(address);
  const open = statSync(folder).mode & 0o077;
  const damage = findDamage(address);
  const isPrivate = (mode & 0o077) === 0 && open === 0;
  const text = `${address}, ${(size / 1024 / 1024).toFixed(1)} MB`;
  return [
    {
      name: 'Store',
      state: damage.length === 0 ? 'ok' : 'broken',
      text: [text, ...damage].join('; '),
      advice: damage.length === 0 ? null : DAMAGED,
    },
    {
      name: 'Permissions',
      state: isPrivate ? 'ok' : 'broken',
      text: `folder ${octal(statSync(folder).mode)}, file ${octal(mode)}`,
      advice: isPrivate
        ? null
        : `other users of this machine can read what agents ask and you answer; run: chmod 700 '${folder}' && chmod 600 '${address}'`,
    },
  ];
}

function octal(mode: number): string {
  return (mode & 0o777).toString(8).padStart(4, '0');
}

async function desktop(env: Environment): Promise<Check> {
  const name = 'Notifications';
  if (platform.popups !== 'session-bus') return checkOk(name, "shown by the system's notification centre");
  const bus = sessionBus(env);
  if (bus === null) {
    const shows = env['DISPLAY'] ?? env['WAYLAND_DISPLAY'] ?? '';
    // On a machine without a desktop, or over ssh, there is nothing to fix.
    if (shows === '') return checkOk(name, 'no desktop here: questions wait in Emacs and the shell');
    return checkBroken(
      name,
      `no session bus on ${shows}`,
      'popups need one: start the desktop with dbus-run-session, or set DBUS_SESSION_BUS_ADDRESS',
    );
  }
  const can = await serverCapabilities({ ...env, DBUS_SESSION_BUS_ADDRESS: bus });
  if (can === null || can === 'silent')
    return checkBroken(
      name,
      can === null
        ? `no notification server answers on ${bus}`
        : `the notification server on ${bus} takes calls and does not answer, so no popup is sent to it`,
      can === null ? 'start one, for example: dunst' : 'restart it',
    );
  return checkOk(name, can.has('actions') ? 'with buttons' : 'without buttons');
}
