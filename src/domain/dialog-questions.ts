/** The model's own questions in its client's dialog (AskUserQuestion) as prompts, and their answers back. Pure. */
import { type DialogAnswer, objectIn, objectsIn, type Raw, textIn } from './dialogs.ts';
import type { HookTool } from './hooks.ts';
import type { AskRequest } from './prompt-asking.ts';
import { PROMPT_LIMITS } from './prompt-limits.ts';
import type { Prompt, PromptOption } from './prompts.ts';

interface Question {
  text: string;
  header: string | null;
  options: PromptOption[];
  multi_select: boolean;
}

/** The questions of a call; none when they are of a shape that a desk could not show. */
export function readQuestions({ input }: Pick<HookTool, 'input'>): Question[] {
  const questions = objectsIn(objectIn(input)?.['questions']).map(
    (raw): Question => ({
      text: textIn(raw, 'question') ?? '',
      header: textIn(raw, 'header'),
      options: objectsIn(raw['options']).flatMap((option) => {
        const label = textIn(option, 'label');
        return label === null ? [] : [{ label, description: textIn(option, 'description') }];
      }),
      multi_select: raw['multiSelect'] === true,
    }),
  );
  const texts = new Set(questions.map(({ text }) => text));
  // The answers go back by the text of their question.
  const usable = texts.size === questions.length && questions.every(isUsable);
  return usable ? questions : [];
}

function isUsable({ text, options }: Question): boolean {
  const labels = new Set(options.map(({ label }) => label.trim()));
  return (
    text !== '' &&
    text.length <= PROMPT_LIMITS.question &&
    options.length <= PROMPT_LIMITS.options &&
    labels.size === options.length
  );
}

export function questionPrompts(tool: HookTool): AskRequest[] {
  return readQuestions(tool).map(({ text, header, options, multi_select }) => ({
    kind: 'question',
    header,
    question: text,
    options,
    multi_select: multi_select && options.length > 0,
    allow_free_text: true,
    bind: 'turn',
  }));
}

/** The same questions with their answers; a comment goes along as a note. */
export function decideQuestions(tool: HookTool, prompts: readonly Prompt[]): DialogAnswer {
  const input: Raw = objectIn(tool.input) ?? {};
  const answers = Object.fromEntries(prompts.map(({ question, decision }) => [question, decision ?? '']));
  const notes = prompts.flatMap(({ question, comment }) =>
    comment === null ? [] : [[question, { notes: comment }] as const],
  );
  return {
    kind: 'allow',
    input: {
      ...input,
      answers,
      ...(notes.length === 0 ? {} : { annotations: Object.fromEntries(notes) }),
    },
    permissions: [],
  };
}
