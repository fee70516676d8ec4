/**
 * Popups in the notification centre of macOS, with what terminal-notifier prints there.
 * @module-tag as-displayed
 */
import { expect, test } from 'vitest';
import type { Popup } from '../../src/domain/popups.ts';
import { type NotifyMac, showInCentre } from '../../src/infrastructure/desktop/notification-centre.ts';

const POPUP: Popup = {
  kind: 'prompt',
  subject: 'ask-1',
  title: 'Claude-abc12 asks',
  body: 'Which database?',
  urgency: 'normal',
  buttons: ['SQLite', 'PostgreSQL'],
  openable: true,
  sound: false,
  command: null,
  count: 1,
  prompts: [],
};

/** Shows a popup to a centre that answers with `response`, or with an error. */
async function shown(popup: Popup, response: Record<string, unknown> | Error) {
  const calls: Record<string, unknown>[] = [];
  const notify: NotifyMac = (options, callback) => {
    calls.push(options);
    if (response instanceof Error) callback(response);
    else callback(null, 'activate', response);
  };
  const popups = await showInCentre(popup, notify);
  return { calls, popups, end: await popups.outcome };
}

test.each([
  [
    { activationType: 'actionClicked', activationValue: 'PostgreSQL', activationValueIndex: '1' },
    { kind: 'button', index: 1 },
  ],
  [
    { activationType: 'actionClicked', activationValue: 'SQLite' },
    { kind: 'button', index: 0 },
  ],
  // Not what was shown.
  [
    { activationType: 'actionClicked', activationValue: 'PostgreSQL', activationValueIndex: '0' },
    { kind: 'closed' },
  ],
  [{ activationType: 'actionClicked', activationValue: 'MySQL' }, { kind: 'closed' }],
  [{ activationType: 'contentsClicked' }, { kind: 'opened' }],
  [{ activationType: 'closed', activationValue: 'Close' }, { kind: 'closed' }],
  [{ activationType: 'timeout' }, { kind: 'closed' }],
  [{}, { kind: 'closed' }],
])('its output says what the person did: %j', async (response, end) => {
  expect((await shown(POPUP, response)).end).toEqual(end);
});

test('of two buttons with one label, only its number says which', async () => {
  const popup = { ...POPUP, buttons: ['yes', 'yes'] };
  const clicked = { activationType: 'actionClicked', activationValue: 'yes' };
  expect((await shown(popup, clicked)).end).toEqual({ kind: 'closed' });
  expect((await shown(popup, { ...clicked, activationValueIndex: '1' })).end).toEqual({
    kind: 'button',
    index: 1,
  });
});

test('the buttons of a question are its actions, and a permission has none', async () => {
  const { calls } = await shown(POPUP, {});
  expect(calls[0]).toMatchObject({
    title: 'Claude-abc12 asks',
    message: 'Which database?',
    actions: ['SQLite', 'PostgreSQL'],
  });
  const permission = { ...POPUP, prompts: [{ kind: 'permission' }] } as unknown as Popup;
  const clicked = { activationType: 'actionClicked', activationValue: 'SQLite', activationValueIndex: '0' };
  const refused = await shown(permission, clicked);
  expect(refused.calls[0]).not.toHaveProperty('actions');
  expect(refused.end).toEqual({ kind: 'closed' });
});

test.each(['[x]', '{x}', '(x)', '<x>', '"x"', '\\x', '@x', '-x'])(
  'text is never interpreted: %s',
  async (text) => {
    const { calls } = await shown({ ...POPUP, title: text, body: text, buttons: [text] }, {});
    expect(calls[0]).toMatchObject({ title: ` ${text}`, message: ` ${text}`, actions: [` ${text}`] });
  },
);

test('an error message is an error, and each popup is removed by its own name', async () => {
  await expect(shown(POPUP, new Error('not\n allowed'))).rejects.toThrow('not allowed');
  const { calls, popups } = await shown(POPUP, {});
  popups.close();
  const other = await shown(POPUP, {});
  expect(calls[1]).toEqual({ remove: calls[0]?.['group'] });
  expect(other.calls[0]?.['group']).not.toBe(calls[0]?.['group']);
});
