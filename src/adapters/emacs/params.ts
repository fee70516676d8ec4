/**
 * The parameters of a method: any spelling of a name is taken, and null is absent (../arguments.ts). A name that this
 * sidecar does not know is no error, because Emacs may be newer; the reply names it in `ignored_params`.
 */
import { z } from 'zod';
import { HiveError } from '../../domain/errors.ts';
import { type UnknownName, understand } from '../arguments.ts';
import type { Method, Seat } from './seat.ts';

const MOST_NAMED = 10;

/** A method whose params have this shape. */
export function takes<Schema extends z.ZodType>(
  schema: Schema,
  handle: (params: z.infer<Schema>, seat: Seat) => Promise<object | null>,
): Method {
  return async (params, seat) => {
    const { given, unknown } = understand(schema, params ?? {});
    const parsed = schema.safeParse(given);
    if (!parsed.success)
      throw new z.ZodError([...parsed.error.issues, ...unknown.slice(0, MOST_NAMED).map(issueOf)]);
    if (unknown.length === 0) return handle(parsed.data, seat);
    const reply = await handle(parsed.data, seat).catch((error: unknown) => {
      throw withHints(error, unknown);
    });
    return { ...reply, ignored_params: unknown.slice(0, MOST_NAMED).map(({ path }) => path) };
  };
}

const NOTHING = z.object({});

/** A method without params. */
export function takesNothing(handle: (seat: Seat) => Promise<object | null>): Method {
  return takes(NOTHING, (_params, seat) => handle(seat));
}

function issueOf(unknown: UnknownName): z.core.$ZodIssue {
  return { code: 'custom', path: [], message: hint(unknown), input: undefined };
}

/** Where something is missing, a name that was not understood is likely to be the reason. */
function withHints(error: unknown, unknown: readonly UnknownName[]): unknown {
  if (!(error instanceof HiveError)) return error;
  const hints = unknown.slice(0, MOST_NAMED).map((one) => ` ${hint(one)}.`);
  return new HiveError(error.code, `${error.message}${hints.join('')}`, error.details);
}

function hint({ path, meant }: UnknownName): string {
  return `There is no parameter "${path}"${meant === null ? '' : `; "${meant}" is probably meant`}`;
}

/** The names that a reply says were ignored. */
export function ignoredIn(reply: object | null): readonly string[] {
  const names = (reply as { ignored_params?: unknown } | null)?.ignored_params;
  return Array.isArray(names) ? names : [];
}
