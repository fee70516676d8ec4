/**
 * node-notifier: shows a popup that cannot be answered: on servers without buttons, and with an
 * old notify-send. It can neither report what happened to a popup nor take it down (measured: `actions` are dropped, and
 * no event ever fires).
 */
import type { ChildProcess } from 'node:child_process';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { readFileSync } from 'node:fs';
import type { Popup } from '../../domain/popups.ts';
import type { Environment } from '../../domain/sources.ts';
import { bodyArgument, plainTitle } from './notify-send.ts';

const LIMIT_MS = 3_000;

/** Shows a popup. @throws Error with node-notifier's complaint, or after 3 s, when its program is ended. */
export async function showByNodeNotifier(popup: Popup, markup: boolean, env: Environment): Promise<void> {
  const { default: notifier } = await import('node-notifier');
  // Its child inherits our own environment; there is no other way to pass it the bus.
  const bus = env['DBUS_SESSION_BUS_ADDRESS'];
  if (bus !== undefined) process.env['DBUS_SESSION_BUS_ADDRESS'] ??= bus;
  const { urgency, sound } = popup;
  const options = {
    title: plainTitle(popup.title),
    message: bodyArgument(popup.body, markup),
    'app-name': 'Hive',
    urgency,
    category: 'im.received',
    sound,
    // Without this every popup disappears after 10 s; 0 lets the server keep a critical one.
    ...(urgency === 'critical' ? { 'expire-time': 0 } : {}),
    ...(sound ? { hint: 'string:sound-name:message-new-instant' } : {}),
    wait: false,
  };
  await new Promise<void>((resolve, reject) => {
    const timer = setTimeout(() => {
      for (const { pid } of started) if (pid !== undefined) killTree(pid);
      reject(new Error('The notification program did not end within 3 s, and was ended.'));
    }, LIMIT_MS);
    const finish = (error: unknown): void => {
      clearTimeout(timer);
      if (error instanceof Error) reject(new Error(complaintOf(error)));
      // On success this is an empty string, or a warning from the program.
      else resolve();
    };
    const started = startedBy(() => {
      try {
        notifier.notify(options, (error) => finish(error));
      } catch (error) {
        finish(error instanceof Error ? error : new Error(String(error)));
      }
    });
  });
}

/** Why notify-send failed, on one line, without the command: that has the texts of the popup, and comes first. */
function complaintOf({ message, cmd }: Error & { cmd?: string }): string {
  const words = message.replace(`Command failed: ${cmd}`, 'notify-send:');
  return words.replace(/\s+/g, ' ').trim().slice(0, 300);
}

/** The processes that `work` starts before it returns: node-notifier does not expose its own, and sets it no time limit. */
function startedBy(work: () => void): readonly ChildProcess[] {
  const started: ChildProcess[] = [];
  const note = (message: unknown): void => void started.push((message as { process: ChildProcess }).process);
  subscribe('child_process', note);
  try {
    work();
  } finally {
    unsubscribe('child_process', note);
  }
  return started;
}

/** Ends a process and its children: node-notifier starts a shell, which may wait for the program. */
function killTree(pid: number): void {
  for (const child of childrenOf(pid)) killTree(child);
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has just ended by itself.
  }
}

function childrenOf(pid: number): number[] {
  try {
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim();
    return children === '' ? [] : children.split(' ').map(Number);
  } catch {
    return [];
  }
}
