/** A permission at a terminal: the person sees what is asked and types yes. Nothing else counts. */
import { createInterface } from 'node:readline/promises';
import { HiveError } from '../domain/errors.ts';
import type { Prompt } from '../domain/prompts.ts';
import { revealed } from '../domain/text.ts';
import { line } from './text.ts';

/** True when the person typed `yes` or the ask_id. @throws HiveError `not_allowed` without a terminal. */
export async function confirmPermission(prompt: Prompt, decision: string): Promise<boolean> {
  const { stdin: input, stdout: output } = process;
  if (!input.isTTY || !output.isTTY) {
    throw new HiveError(
      'not_allowed',
      'A permission is answered at a terminal, where it asks for confirmation: not with a pipe for stdin or stdout. Answer it in Emacs or type the command in a terminal.',
    );
  }
  output.write(`${line(prompt.agent)} (${line(prompt.project)}) asks for permission:\n`);
  output.write(`${revealed(prompt.question)}\n`);
  const lines = createInterface({ input, output });
  try {
    const typed = await lines.question(`Answer "${line(decision)}"? Type yes to give it: `);
    if (typed.trim() === 'yes' || typed.trim() === prompt.ask_id) return true;
  } finally {
    lines.close();
  }
  throw new HiveError('not_allowed', `Not confirmed: ${prompt.ask_id} was not answered.`);
}
