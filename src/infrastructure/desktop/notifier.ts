/**
 * The notifier: how a popup is shown. If the notification server supports actions, notify-send waits for one;
 * otherwise, or when that fails, node-notifier shows it. On macOS the notification centre shows it. The user's own program
 * gets it as well. A popup has failed only when all of these failed.
 */
import type { Logger, Notifier, ShownPopup } from '../../application/world.ts';
import { NO_BUS, type Popup } from '../../domain/popups.ts';
import type { Environment } from '../../domain/sources.ts';
import { platform } from '../platform/platform.ts';
import { runNotifyCommand } from './command.ts';
import { showByNodeNotifier } from './node-notifier.ts';
import { type NotifyMac, showInCentre } from './notification-centre.ts';
import {
  answersOnBus,
  serverCapabilities,
  sessionBus,
  showWaiting,
  type WaitingPopup,
} from './notify-send.ts';

/** How many ms the user's own program may continue after we were asked to end. */
const COMMAND_GRACE_MS = 400;

const HANDED_OVER: ShownPopup = { outcome: Promise.resolve({ kind: 'closed' }), close: () => undefined };

export function createDesktopNotifier({ env, log }: { env: Environment; log: Logger }): Notifier {
  const waiting = new Set<WaitingPopup>();
  const stopping = new AbortController();
  const commands = new Set<Promise<void>>();
  let warned = false;
  let closed = false;

  /** The environment with the bus address. @throws Error when there is no bus. */
  function withBus(): Environment {
    // Other platforms need no bus. Without an address D-Bus' own tools would start one and leave it running.
    if (platform.popups !== 'session-bus') return env;
    const address = sessionBus(env);
    if (address === null) throw new Error(NO_BUS);
    return { ...env, DBUS_SESSION_BUS_ADDRESS: address };
  }

  /** Keeps a popup until it is gone, so that `close` can take it down. */
  function keep(shown: WaitingPopup): ShownPopup {
    waiting.add(shown);
    shown.gone.then(
      () => waiting.delete(shown),
      () => undefined,
    );
    if (closed) shown.close();
    return shown;
  }

  async function showOnDesktop(popup: Popup, unwanted: AbortSignal | undefined): Promise<ShownPopup> {
    if (platform.popups === 'notification-centre') {
      const { default: notifier } = await import('node-notifier');
      return keep(await showInCentre(popup, notifier.notify.bind(notifier) as NotifyMac));
    }
    const desktop = withBus();
    // Checked each time: the server may have stopped answering, or another one may have taken over.
    const capabilities = await serverCapabilities(desktop);
    if (capabilities === 'silent') throw new Error('The notification server of the desktop does not answer.');
    const markup = capabilities === null || capabilities.has('body-markup');
    // After close nobody would take it down.
    if (closed) throw new Error('The process that should have shown it has ended.');
    if (unwanted?.aborted === true) throw new Error('It was settled before it could be shown.');
    if (capabilities?.has('actions') === true) {
      try {
        return keep(await showWaiting(popup, markup, desktop));
      } catch {
        // This notify-send is too old: show it without buttons.
      }
    }
    await showByNodeNotifier(popup, markup, desktop);
    return HANDED_OVER;
  }

  function runCommand(popup: Popup): Promise<void> {
    const command = popup.command ?? '';
    if (command === '' || popup.kind === 'notice') return Promise.reject(new Error('No command is set.'));
    const running = runNotifyCommand(command, popup, env, stopping.signal).catch((error: unknown) => {
      warn(error);
      throw error;
    });
    const tracked = running.catch(() => undefined).finally(() => commands.delete(tracked));
    commands.add(tracked);
    return running;
  }

  /** Logs the first failure only: a desktop without a server would otherwise fill the log. */
  function warn(error: unknown): void {
    if (warned) return;
    warned = true;
    log.warn('A notification could not be shown; further failures are recorded with their prompts.', {
      error: error instanceof Error ? error.message : String(error),
    });
  }

  return {
    async reachable(command) {
      if (command !== null) return true;
      try {
        return await answersOnBus(withBus());
      } catch {
        return false;
      }
    },

    async show(popup, unwanted) {
      const byCommand = runCommand(popup).then(
        () => true,
        () => false,
      );
      try {
        return await showOnDesktop(popup, unwanted);
      } catch (error) {
        if (await byCommand) return HANDED_OVER;
        warn(error);
        throw error;
      }
    },

    async close() {
      closed = true;
      const open = [...waiting];
      for (const shown of open) shown.close();
      // The notification that the user's own program is sending may be the only one that reaches them.
      const timer = setTimeout(() => stopping.abort(), COMMAND_GRACE_MS);
      await Promise.all([...open.map((shown) => shown.gone), ...commands]);
      clearTimeout(timer);
    },
  };
}
