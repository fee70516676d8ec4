/**
 * notify-send called directly, without a shell: the way to buttons, to a click, and to taking a popup down.
 * With actions it waits and prints the key of the one chosen; SIGINT closes its popup (SIGTERM would leave
 * it). Needs libnotify 0.8.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import type { PopupEnd, ShownPopup } from '../../application/ports.ts';
import type { Popup } from '../../domain/popups.ts';
import { complaint, type Environment, type Finished, finished, onPath } from './children.ts';
import { plainBody, plainLabel, plainTitle } from './plain-text.ts';

/** A failure is clean and quick (measured: under 50 ms), success is silent: who lives so long has shown it. */
const SHOWN_AFTER_MS = 250;
/** How long a popup may take to go before its process is killed. */
const CLOSE_MS = 400;

export interface WaitingPopup extends ShownPopup {
  /** Resolves when its process is gone. */
  readonly gone: Promise<void>;
}

/** @throws Error with what notify-send complained of. */
export async function showWaiting(popup: Popup, markup: boolean, env: Environment): Promise<WaitingPopup> {
  const child = spawnTied(
    [...argumentsOf(popup), '--', plainTitle(popup.title), plainBody(popup.body, markup)],
    env,
  );
  const end = finished(child);
  const early = await Promise.race([end, after(SHOWN_AFTER_MS)]);
  if (early !== null && early.code !== 0) throw new Error(complaint(early, 'notify-send'));
  return {
    outcome: end.then(endOf),
    gone: end.then(() => undefined),
    close: () => close(child),
  };
}

function argumentsOf({ urgency, buttons, openable, sound }: Popup): string[] {
  const args = ['--app-name=Hive', `--urgency=${urgency}`, '--category=im.received'];
  if (sound) args.push('--hint=string:sound-name:message-new-instant');
  for (const [index, label] of buttons.entries()) args.push(`--action=${index}=${plainLabel(label)}`);
  // Also where it leads nowhere: only a notification with an action is waited for and can be taken down.
  if (openable || buttons.length === 0) args.push(`--action=default=${openable ? 'Open' : 'Close'}`);
  return args;
}

/** Where setpriv exists, the kernel interrupts notify-send when we die, however we die: no popup stays whose buttons do nothing. */
function spawnTied(args: readonly string[], env: Environment): ChildProcess {
  const command = onPath('setpriv', env)
    ? ['setpriv', '--pdeathsig', 'INT', '--', 'notify-send', ...args]
    : ['notify-send', ...args];
  const [program = '', ...rest] = command;
  return spawn(program, rest, { env: { ...env }, stdio: ['ignore', 'pipe', 'pipe'] });
}

function endOf({ stdout }: Finished): PopupEnd {
  const key = stdout.trim();
  if (key === 'default') return { kind: 'opened' };
  return /^\d$/.test(key) ? { kind: 'button', index: Number(key) } : { kind: 'closed' };
}

function close(child: ChildProcess): void {
  child.kill('SIGINT');
  const timer = setTimeout(() => child.kill('SIGKILL'), CLOSE_MS);
  child.once('close', () => clearTimeout(timer));
  if (child.exitCode !== null || child.signalCode !== null) clearTimeout(timer);
}

function after(ms: number): Promise<null> {
  return new Promise((resolve) => setTimeout(() => resolve(null), ms));
}
