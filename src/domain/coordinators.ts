/**
 * Coordinators: agents that answer other agents' questions and interrupt them. An option on a command line does
 * not give that role: the human grants it, with a permission that is signed like any other, and it is bound to the client
 * process that was running then. Pure.
 */
import { type AskRequest, type Prompt, ROLE_KEY } from './prompts.ts';

/** The client process, or the token, that a grant is bound to. */
export type Holder =
  /** The client of a session on this machine: its process, and when that process began. */
  | { machine: string; pid: number; started: string }
  /** The token of a remote agent. */
  | { token: string };

const QUESTION = "May this agent answer other agents' questions and interrupt them, in its own name?";
const ALLOW = 'Allow';

/** The request for the role. A request that was cancelled or has expired may be repeated: `attempt` counts from 0. */
export function coordinatorRequest(
  holder: Holder,
  attempt: number,
): AskRequest & { idempotency_key: string } {
  const [bound, until, key] =
    'token' in holder
      ? [
          `It connects from another machine, with the token "${holder.token}".`,
          'you revoke that token',
          holder.token,
        ]
      : [
          `Its client is process ${holder.pid} on ${holder.machine}.`,
          'that process ends',
          `${holder.pid}:${holder.started}`,
        ];
  return {
    kind: 'permission',
    header: 'Coordinator',
    question: QUESTION,
    context: `${bound} The answer is valid until ${until}, or until you correct it to Deny.\n\nA coordinator never answers permissions, nor what its own processes ask.`,
    options: [{ label: ALLOW }, { label: 'Deny' }],
    allow_free_text: false,
    when_turn_aborted: 'stays',
    idempotency_key: `${ROLE_KEY}${key}:${attempt}`,
  };
}

/** Whether a prompt really is this request: anybody could have stored another prompt under its key. */
export function isRequest(prompt: Prompt, request: AskRequest): boolean {
  const labels = prompt.options.map(({ label }) => label).join();
  return (
    prompt.kind === request.kind &&
    prompt.question === request.question &&
    prompt.context === request.context &&
    labels === (request.options ?? []).map((one) => (typeof one === 'string' ? one : one.label)).join()
  );
}

/** Whether the answer to such a request grants it. */
export function grants({ status, selected }: Pick<Prompt, 'status' | 'selected'>): boolean {
  return status === 'responded' && selected.length === 1 && selected[0] === ALLOW;
}
