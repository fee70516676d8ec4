/** What a tool is, and what its handler gets. */
import type { ZodRawShape, z } from 'zod';
import type { Delivered } from '../../application/delivery.ts';
import type { Hive } from '../../application/hive.ts';
import type { AgentActor } from '../../domain/actors.ts';
import type { Session } from '../../domain/sessions.ts';

/** What a tool's handler gets besides its arguments. */
export interface ToolCall {
  hive: Hive;
  session: Session;
  /** How the caller can have an identity; null when it has one. */
  advice: string | null;
  /** What this call's results are handed over by (invariant 6). */
  carrier: string;
  /** Stamps what is settled among these prompts as handed over to the caller, before it is returned. */
  hand(ask_ids: readonly string[]): Promise<Delivered[]>;
  /** The turn in which it is made; null where none is known. */
  turn_id: string | null;
  /** Aborted when the client cancels the call or goes away, and when its turn is to stop. */
  signal: AbortSignal;
  /** Tells a client that asked for it that the call is alive. */
  progress(message: string): Promise<void>;
}

export interface Tool {
  name: string;
  title: string;
  description: string;
  input: ZodRawShape;
  /** Changes nothing that anyone would mind. */
  readOnly: boolean;
  handle(args: never, call: ToolCall): Promise<Record<string, unknown>>;
}

/** Declares a tool so that its handler's arguments have the type of its input. */
export function tool<Input extends ZodRawShape>(
  definition: Omit<Tool, 'input' | 'handle'> & {
    input: Input;
    handle(args: z.infer<z.ZodObject<Input>>, call: ToolCall): Promise<Record<string, unknown>>;
  },
): Tool {
  return definition as unknown as Tool;
}

// ---------------------------------------------------------------------------
// The caller of a tool as one who acts.

export function agentActor({ handle, session_id }: Session): AgentActor {
  return { kind: 'agent', by: handle, via: 'mcp', session_id, ancestors: [] };
}

// ---------------------------------------------------------------------------
// What results have in common.

/** What a client passes on to its model whole: Claude Code cuts results at 25,000 tokens. */
export const RESULT_BYTES: number = 48 * 1024;

/** Sentences as one text; what is null is left out. */
export function sentences(...parts: readonly (string | null)[]): string {
  return parts.filter((part) => part !== null && part !== '').join(' ');
}
