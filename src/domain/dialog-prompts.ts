/** Every kind of dialog as prompts, and back: which file knows which. Pure. */
import { decideForm, formHeader, formPrompts } from './dialog-forms.ts';
import { decidePermission, permissionPrompt } from './dialog-permissions.ts';
import { decideQuestions, questionPrompts } from './dialog-questions.ts';
import { CLOSING, type Dialog, type DialogAnswer, dialogOf, TOOL_IS_OVER } from './dialogs.ts';
import type { HookEvent } from './hooks.ts';
import type { AskRequest } from './prompt-asking.ts';
import type { Prompt } from './prompts.ts';
import { cleanText } from './text.ts';

/** What is asked; nothing when the dialog is of a shape that a desk could not show. */
export function promptsOf(dialog: Dialog, { client, cwd }: Pick<HookEvent, 'client' | 'cwd'>): AskRequest[] {
  switch (dialog.kind) {
    case 'questions':
      return questionPrompts(dialog.tool);
    case 'form':
      return formPrompts(dialog);
    default:
      return [permissionPrompt(dialog, client, cwd)];
  }
}

/** What the client is told, once every prompt of the dialog is answered; in the order in which they were asked. */
export function decideDialog(dialog: Dialog, prompts: readonly Prompt[]): DialogAnswer | null {
  switch (dialog.kind) {
    case 'questions':
      return decideQuestions(dialog.tool, prompts);
    case 'form':
      return decideForm(dialog, prompts);
    default:
      return prompts[0] === undefined ? null : decidePermission(dialog, prompts[0]);
  }
}

/** Those of a session's waiting dialogs that the client has closed, as this event shows. */
export function closedBy(event: HookEvent, waiting: readonly Prompt[]): readonly Prompt[] {
  const { name, tool, raw } = event;
  if (CLOSING.has(name)) return waiting;
  if (name === 'ElicitationResult') {
    const header = formHeader(String(raw['mcp_server_name']));
    return waiting.filter((prompt) => prompt.header === header);
  }
  if (tool === null || !TOOL_IS_OVER.has(name)) return [];
  // It carries no id that its dialog had; but it asks the same again.
  const dialog = dialogOf({ ...event, name: 'PermissionRequest' });
  if (dialog === null) return [];
  const asked = promptsOf(dialog, event).map(({ header, question }) => `${header} ${cleanText(question)}`);
  const same = waiting.filter(({ header, question }) => asked.includes(`${header} ${question}`));
  // Of two calls that ask the same, one is over.
  return dialog.kind === 'questions' ? same : same.slice(0, 1);
}
