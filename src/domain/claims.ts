/**
 * Claims: who has taken a prompt up to answer it, so that others see it and need not. A claim is a courtesy: it
 * never keeps an answer from settling the prompt, and it lapses with the desk that holds it. Pure.
 */
import type { Prompt } from './prompts.ts';

/**
 * The prompt taken up by `by`. The first has it: as long as `holder`, the living desk that holds it, is somebody
 * else's, it stays theirs. A settled prompt stays as it is.
 */
export function claimPrompt(prompt: Prompt, by: string, holder: string | null, now: string): Prompt {
  if (prompt.status !== 'pending' || prompt.claimed_by === by) return prompt;
  if (prompt.claimed_by !== null && holder !== null) return prompt;
  return { ...prompt, claimed_by: by, claimed_at: now };
}

/** Let go: the next may have it. What was settled keeps who had taken it up. */
export function releasePrompt(prompt: Prompt): Prompt {
  return prompt.status !== 'pending' || prompt.claimed_by === null
    ? prompt
    : { ...prompt, claimed_by: null, claimed_at: null };
}
