/** What a tool is, and what its handler gets. */
import type { ZodRawShape, z } from 'zod';
import type { Delivered } from '../../application/delivery.ts';
import type { Hive } from '../../application/hive.ts';
import type { Session } from '../../domain/sessions.ts';
import type { Aliases } from '../arguments.ts';

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
  /** So long this call may wait: the client allows no more, or is not known to. */
  longest_wait_ms: number;
  /** Tells a client that asked for it that the call is alive. */
  progress(message: string): Promise<void>;
  /** Resolves when the client has been told of what it subscribed to, up to what is stored now. */
  caughtUp(): Promise<void>;
}

export interface Tool {
  name: string;
  title: string;
  description: string;
  input: ZodRawShape;
  /** Other names that are taken for an argument. Clients are not told of them: a tool list is read with every call. */
  aliases?: Aliases;
  /** Without any of these the call looks at everything; then an argument that the tool does not know is refused, not ignored. */
  narrowing?: readonly string[];
  /** Changes nothing that anyone would mind. */
  readOnly: boolean;
  handle(args: never, call: ToolCall): Promise<Record<string, unknown>>;
}

/** Declares a tool so that its handler's arguments have the type of its input. */
export function tool<Input extends ZodRawShape>(
  definition: Omit<Tool, 'input' | 'aliases' | 'narrowing' | 'handle'> & {
    input: Input;
    aliases?: Readonly<Record<string, keyof Input & string>>;
    narrowing?: readonly (keyof Input & string)[];
    handle(args: z.infer<z.ZodObject<Input>>, call: ToolCall): Promise<Record<string, unknown>>;
  },
): Tool {
  return definition as unknown as Tool;
}
