/** The additions of `hive init` to the files of Claude Code, for the tests that add them and take them out again. */
import { expect } from 'vitest';
import { SERVER_NAME } from '../../src/domain/installation.ts';
import {
  claudeServer,
  hookPart,
  inOneFile,
  refusalPart,
  rulePart,
} from '../../src/infrastructure/installation/claude.ts';
import {
  type Part,
  planInit,
  planUninit,
  type Receipt,
} from '../../src/infrastructure/installation/parts.ts';

export const PROGRAM: string[] = ['/opt/node', '/opt/hive/bin/hive'];
/** The same of an earlier installation; no other text contains `/old/`. */
export const OLDER: string[] = ['/old/node', '/old/bin/hive'];

const hooks = (program: string[]): Part => hookPart('claude-code', '/home/settings.json', { program });

/** Each part by its name, made for a program. */
export const PARTS: Readonly<Record<string, (program: string[]) => Part>> = {
  'the server': (program) => claudeServer('/home/.claude.json', program),
  'the server of a coordinator': (program) => claudeServer('/home/.claude.json', program, 'coordinator'),
  'the hooks': hooks,
  'the hooks, the permission rules and what no project may replace': (program) =>
    inOneFile(
      hooks(program),
      rulePart('/home/settings.json', SERVER_NAME),
      refusalPart('/home/settings.json'),
    ),
};

/** Adds a part to the text of a file, or of none, in which it is not there yet. */
export function init(
  part: Part,
  text: string | null,
  receipt: Receipt | null = null,
): { text: string; receipt: Receipt } {
  const change = planInit(part, text, receipt);
  if (change?.receipt == null || change.after === null) throw new Error('Nothing was to be done.');
  return { text: change.after, receipt: change.receipt };
}

/** Adds a part to a file, and takes it out again: each byte is restored, also after a second init and after an upgrade. */
export function expectRestored(made: (program: string[]) => Part, text: string): ReturnType<typeof init> {
  const part = made(PROGRAM);
  const done = init(part, text);
  expect(planUninit(part, done.text, done.receipt)?.after).toBe(text);
  // Again, with the receipt and without one.
  expect(planInit(part, done.text, done.receipt)).toBeNull();
  expect(planInit(part, done.text, null)).toBeNull();
  const old = init(made(OLDER), text);
  const now = init(part, old.text, old.receipt);
  expect(now.text).not.toContain('/old/');
  expect(planUninit(part, now.text, now.receipt)?.after).toBe(text);
  return done;
}
