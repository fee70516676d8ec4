/**
 * The notification centre of macOS: terminal-notifier, which node-notifier contains, shows a popup and prints how it ended.
 * A banner may cut a long text without a sign, so nothing there answers a permission (invariant 13).
 */
import type { PopupEnd } from '../../application/world.ts';
import type { Popup } from '../../domain/popups.ts';
import { plainBody, plainLabel, plainTitle, type WaitingPopup } from './notify-send.ts';

/** `notify` of node-notifier, as far as it is used; `response` is what terminal-notifier printed. */
export type NotifyMac = (
  options: Record<string, unknown>,
  callback: (
    error: Error | string | null,
    kind?: string,
    response?: Readonly<Record<string, unknown>>,
  ) => void,
) => unknown;

/** Without a limit terminal-notifier would end at once, without a button. */
const SHOWN_S = 24 * 60 * 60;
/** In ms. It complains quickly, so after this time a popup counts as shown. */
const SHOWN_AFTER_MS = 250;

let shown = 0;

/** Shows a popup and waits for its end. @throws Error with the complaint of terminal-notifier. */
export async function showInCentre(popup: Popup, notify: NotifyMac): Promise<WaitingPopup> {
  shown += 1;
  const group = `hive-${process.pid}-${shown}`;
  const isPermission = popup.prompts.some(({ kind }) => kind === 'permission');
  const labels = isPermission ? [] : popup.buttons.map(plainLabel);
  const options = {
    title: guarded(plainTitle(popup.title)),
    message: guarded(plainBody(popup.body, false)),
    group,
    sound: popup.sound,
    timeout: SHOWN_S,
    ...(labels.length === 0 ? {} : { actions: labels.map(guarded), dropdownLabel: 'Answer' }),
  };
  const ended = new Promise<PopupEnd | Error>((resolve) => {
    notify(options, (error, _kind, response) => {
      if (error) resolve(error instanceof Error ? error : new Error(error));
      else resolve(endOf(response ?? {}, labels.map(guarded), popup.openable));
    });
  });
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<null>((resolve) => {
    timer = setTimeout(() => resolve(null), SHOWN_AFTER_MS);
  });
  const early = await Promise.race([ended, late]);
  clearTimeout(timer);
  if (early instanceof Error) throw new Error(early.message.replace(/\s+/g, ' ').trim().slice(0, 300));
  return {
    outcome: ended.then((end) => (end instanceof Error ? { kind: 'closed' } : end)),
    gone: ended.then(() => undefined),
    close: () => void notify({ remove: group }, () => undefined),
  };
}

/** terminal-notifier reads values that begin with one of these as its own notation for lists and escapes. */
function guarded(text: string): string {
  return /^[[{(<"\\@]/.test(text) ? ` ${text}` : text;
}

/** A button counts only if its label and its number agree. */
function endOf(
  response: Readonly<Record<string, unknown>>,
  labels: readonly string[],
  openable: boolean,
): PopupEnd {
  const { activationType, activationValue, activationValueIndex } = response;
  if (activationType === 'contentsClicked') return openable ? { kind: 'opened' } : { kind: 'closed' };
  if (activationType !== 'actionClicked') return { kind: 'closed' };
  const index =
    activationValueIndex === undefined
      ? labels.indexOf(String(activationValue))
      : Number(activationValueIndex);
  const isShown = labels[index] !== undefined && labels[index] === activationValue;
  const isOnly = labels.filter((label) => label === activationValue).length === 1;
  return isShown && (isOnly || activationValueIndex !== undefined)
    ? { kind: 'button', index }
    : { kind: 'closed' };
}
