/** A client's permission prompt, or its plan to be approved, as a prompt of kind `permission`; and back. Pure. */
import { type Dialog, type DialogAnswer, objectIn, objectsIn, type Raw, textIn } from './dialogs.ts';
import type { HookClient } from './hooks.ts';
import type { AskRequest } from './prompt-asking.ts';
import type { Prompt } from './prompts.ts';
import { summarizeTool } from './tool-summaries.ts';

export type PermissionDialog = Extract<Dialog, { kind: 'permission' | 'plan' }>;

/** Yes to this once; a rule says it in the human's words (application/dialogs.ts). */
export const ALLOW = 'Allow';
/** No, with a comment as the reason. */
export const DENY = 'Deny';
const ALWAYS = 'Allow always';
const APPROVE = 'Approve';
const KEEP_PLANNING = 'Keep planning';
const ABORT = 'Abort';

const IN_YOUR_WORDS =
  'A comment, or words of your own instead of an option, are denied with: the agent reads them';

/** Words of one's own never allow anything: they deny, and say what to do instead. */
export function permissionPrompt(dialog: PermissionDialog, client: HookClient, cwd: string): AskRequest {
  const abort = { label: ABORT, description: 'Deny, and end the turn' };
  const shared = { kind: 'permission', allow_free_text: true, bind: 'turn' } as const;
  if (dialog.kind === 'plan') {
    const plan = textIn(objectIn(dialog.tool.input) ?? {}, 'plan');
    return {
      ...shared,
      header: 'Plan',
      question: 'Approve this plan?',
      context: plan ?? 'The plan stands in the terminal of the agent.',
      options: [
        { label: APPROVE, description: 'The agent leaves plan mode and begins' },
        { label: KEEP_PLANNING, description: IN_YOUR_WORDS },
        abort,
      ],
    };
  }
  const { question, details } = summarizeTool(dialog.tool);
  const always = describeSuggestions(dialog.suggestions);
  return {
    ...shared,
    header: dialog.tool.name,
    question,
    context: [details, `Tool: ${dialog.tool.name}`, `Directory: ${cwd}`]
      .filter((part) => part !== '')
      .join('\n\n'),
    options: [
      { label: ALLOW, description: 'This once' },
      ...(always === null ? [] : [{ label: ALWAYS, description: always }]),
      { label: DENY, description: IN_YOUR_WORDS },
      // Codex knows no such answer: its hook would fail.
      ...(client === 'codex' ? [] : [abort]),
    ],
  };
}

/** The client's own offer of what to allow from now on, in words; null when it offers nothing. */
function describeSuggestions(suggestions: readonly Raw[]): string | null {
  const described = suggestions.flatMap((suggestion) => describeSuggestion(suggestion) ?? []);
  return described.length === 0 ? null : described.join('; ');
}

const WHERE: Readonly<Record<string, string>> = {
  session: 'for this session',
  localSettings: 'in this project, for you',
  projectSettings: 'in this project, for everybody',
  userSettings: 'in all your projects',
};

function describeSuggestion(suggestion: Raw): string | null {
  const what = whatItAllows(suggestion);
  if (what === null) return null;
  const where = WHERE[String(suggestion['destination'])];
  return where === undefined ? what : `${what}, ${where}`;
}

function whatItAllows(suggestion: Raw): string | null {
  switch (suggestion['type']) {
    case 'addRules':
    case 'replaceRules': {
      // One that denies or asks is nothing that "allow" may stand for.
      if (suggestion['behavior'] !== 'allow') return null;
      const rules = objectsIn(suggestion['rules']).map((rule) => {
        const content = textIn(rule, 'ruleContent');
        return `${String(rule['toolName'])}${content === null ? '' : `(${content})`}`;
      });
      return rules.length === 0 ? null : rules.join(', ');
    }
    case 'addDirectories':
      return `everything in ${[suggestion['directories']].flat().join(', ')}`;
    case 'setMode':
      return `mode ${String(suggestion['mode'])}`;
    default:
      return null;
  }
}

/** What the client is told for an answer; whatever is not plainly a yes is a no. */
export function decidePermission(dialog: PermissionDialog, prompt: Prompt): DialogAnswer {
  const { decision, selected, comment, by } = prompt;
  const [chosen] = selected;
  const input = objectIn(dialog.tool.input);
  switch (chosen) {
    case ALLOW:
      return { kind: 'allow', input: null, permissions: [] };
    // Without its input given back the client would go on showing the plan.
    case APPROVE:
      return { kind: 'allow', input, permissions: [] };
    case ALWAYS:
      return { kind: 'allow', input: null, permissions: allowing(dialog) };
    default: {
      const note = chosen === undefined ? decision : comment;
      const denied = dialog.kind === 'plan' ? 'did not approve the plan' : 'denied this';
      const said = note === null ? '' : ` ${by} says: ${note}`;
      return { kind: 'deny', message: `${by} ${denied}.${said}`, interrupt: chosen === ABORT };
    }
  }
}

function allowing(dialog: PermissionDialog): readonly Raw[] {
  return dialog.kind === 'plan'
    ? []
    : dialog.suggestions.filter((suggestion) => whatItAllows(suggestion) !== null);
}
