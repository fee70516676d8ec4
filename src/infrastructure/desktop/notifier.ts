/**
 * Which way a popup takes. Where the notification server has actions, notify-send waits with it; everywhere
 * else, and when that fails, node-notifier hands it over. The user's own program is told besides; a popup
 * has failed only when nobody could be told.
 */
import type { Logger, Notifier, ShownPopup } from '../../application/ports.ts';
import type { Popup } from '../../domain/popups.ts';
import { type Environment, tellCommand } from './command.ts';
import { showByNodeNotifier } from './node-notifier.ts';
import {
  answersOnBus,
  serverCapabilities,
  sessionBus,
  showWaiting,
  type WaitingPopup,
} from './notify-send.ts';

/** How long the user's own program may go on after we are to end. */
const COMMAND_GRACE_MS = 400;

const HANDED_OVER: ShownPopup = { outcome: Promise.resolve({ kind: 'closed' }), close: () => undefined };

export function createDesktopNotifier({ env, log }: { env: Environment; log: Logger }): Notifier {
  const waiting = new Set<WaitingPopup>();
  const stopping = new AbortController();
  const telling = new Set<Promise<void>>();
  let capabilities: ReadonlySet<string> | null = null;
  let warned = false;
  let closed = false;

  /** The environment with the bus in it. @throws Error where there is no bus. */
  function withBus(): Environment {
    // Other platforms need no bus. Without an address D-Bus' own tools would start one and leave it behind.
    if (process.platform === 'darwin' || process.platform === 'win32') return env;
    const address = sessionBus(env);
    if (address === null)
      throw new Error(
        'There is no D-Bus session bus: DBUS_SESSION_BUS_ADDRESS is not set, and /run/user has none.',
      );
    return { ...env, DBUS_SESSION_BUS_ADDRESS: address };
  }

  async function showOnDesktop(popup: Popup): Promise<ShownPopup> {
    const desktop = withBus();
    capabilities ??= await serverCapabilities(desktop);
    const markup = capabilities === null || capabilities.has('body-markup');
    // Nobody would be there to take it down.
    if (closed) throw new Error('The process that was to show it has ended.');
    if (capabilities?.has('actions') === true) {
      try {
        const shown = await showWaiting(popup, markup, desktop);
        waiting.add(shown);
        shown.gone.then(
          () => waiting.delete(shown),
          () => undefined,
        );
        if (closed) shown.close();
        return shown;
      } catch {
        // Another server may have taken over, or this notify-send is too old: the plain way tells.
        capabilities = null;
      }
    }
    await showByNodeNotifier(popup, markup, desktop);
    return HANDED_OVER;
  }

  function tell(popup: Popup): Promise<void> {
    const command = popup.command ?? env['HIVE_NOTIFY_COMMAND'] ?? '';
    if (command === '' || popup.kind === 'notice') return Promise.reject(new Error('No command is set.'));
    const told = tellCommand(command, popup, env, stopping.signal).catch((error: unknown) => {
      warn(error);
      throw error;
    });
    const tracked = told.catch(() => undefined).finally(() => telling.delete(tracked));
    telling.add(tracked);
    return told;
  }

  /** Once: a desktop without a server would otherwise fill the log. */
  function warn(error: unknown): void {
    if (warned) return;
    warned = true;
    log.warn('A notification could not be shown; further failures stand on the trail of their prompts.', {
      error: error instanceof Error ? error.message : String(error),
    });
  }

  return {
    async reachable(command) {
      if ((command ?? env['HIVE_NOTIFY_COMMAND'] ?? '') !== '') return true;
      try {
        return await answersOnBus(withBus());
      } catch {
        return false;
      }
    },

    async show(popup) {
      const told = tell(popup).then(
        () => true,
        () => false,
      );
      try {
        return await showOnDesktop(popup);
      } catch (error) {
        if (await told) return HANDED_OVER;
        warn(error);
        throw error;
      }
    },

    async close() {
      closed = true;
      const open = [...waiting];
      for (const shown of open) shown.close();
      // What the person's own program is sending just now may be the only thing that reaches them.
      const timer = setTimeout(() => stopping.abort(), COMMAND_GRACE_MS);
      await Promise.all([...open.map((shown) => shown.gone), ...telling]);
      clearTimeout(timer);
    },
  };
}
