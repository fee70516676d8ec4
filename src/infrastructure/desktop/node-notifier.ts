/**
 * node-notifier: the way to the desktop wherever nothing has to come back: other platforms, servers without
 * buttons, an old notify-send. It cannot tell what became of a popup nor take it down (measured: `actions` are
 * dropped, no event ever fires).
 */
import type { Popup } from '../../domain/popups.ts';
import type { Environment } from './command.ts';
import { plainBody, plainTitle } from './notify-send.ts';

const LIMIT_MS = 3_000;

/** @throws Error with what node-notifier complained of, or after 3 s. */
export async function showByNodeNotifier(popup: Popup, markup: boolean, env: Environment): Promise<void> {
  const { default: notifier } = await import('node-notifier');
  // Its child inherits our own environment; there is no other way to tell it the bus.
  const bus = env['DBUS_SESSION_BUS_ADDRESS'];
  if (bus !== undefined) process.env['DBUS_SESSION_BUS_ADDRESS'] ??= bus;
  const { urgency, sound } = popup;
  const options = {
    title: plainTitle(popup.title),
    message: plainBody(popup.body, markup),
    'app-name': 'Hive',
    urgency,
    category: 'im.received',
    sound,
    // Left alone it lets every popup go after 10 s; 0 lets the server keep a critical one.
    ...(urgency === 'critical' ? { 'expire-time': 0 } : {}),
    ...(sound ? { hint: 'string:sound-name:message-new-instant' } : {}),
    wait: false,
  };
  await new Promise<void>((resolve, reject) => {
    const timer = setTimeout(
      () => reject(new Error('The notification program did not end within 3 s.')),
      LIMIT_MS,
    );
    const settle = (error: unknown): void => {
      clearTimeout(timer);
      if (error instanceof Error) reject(new Error(error.message.replace(/\s+/g, ' ').trim().slice(0, 300)));
      // On success this is an empty string, or what the program had to warn of.
      else resolve();
    };
    try {
      notifier.notify(options, (error) => settle(error));
    } catch (error) {
      settle(error instanceof Error ? error : new Error(String(error)));
    }
  });
}
