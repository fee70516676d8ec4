/**
 * A permission that a person allows in a real Emacs is signed with the key of their seat, and the hook lets it through.
 *
 * @module-tag as-displayed
 * @module-tag provenance
 * @module-tag emacs
 */
import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { seatKeyFrom } from '../../src/domain/seats.ts';
import { thisSeat } from '../../src/infrastructure/platform/paths.ts';
import { childEnvironment, readOutput, spawnHive } from '../support/children.ts';
import { type EmacsTerminal, type EmptyHome, openEmptyHome } from '../support/emacs.ts';
import { recordedEvent, said } from '../support/hooks.ts';

let home: EmptyHome;
beforeEach(async () => {
  home = await openEmptyHome();
});

/** The output of an agent's `hive hook`, once the person has allowed this in Emacs. */
async function allowed(emacs: EmacsTerminal, line: string): Promise<unknown> {
  const hook = spawnHive(
    ['hook', '--client', 'claude-code'],
    childEnvironment(home.store, { HOME: home.folder }),
  );
  const out = readOutput(hook);
  const { permission_suggestions: _, ...event } = recordedEvent(
    'claude-code/PermissionRequest-Bash-addRules.json',
  );
  hook.process.stdin.end(JSON.stringify({ ...event, session_id: line, tool_input: { command: line } }));
  await emacs.until(/hive 1\b/);
  await emacs.command('hive-next');
  await emacs.until(new RegExp(line));
  await emacs.answer(/TAB skip/, '1');
  await emacs.answer(/RET or y gives/, 'y');
  await hook.exited;
  return said(out())?.hookSpecificOutput;
}

/** The key of another seat. */
const OTHER = seatKeyFrom('0'.repeat(64)).key;

const config = (name: string): string => join(home.folder, '.config/hive', name);

test('Emacs makes its key, registers it and says so; what is allowed there is allowed until the human removes it', async () => {
  const emacs = await home.emacs();
  await emacs.said(/Registered this seat/);
  for (const name of ['seat.key', 'trust.json']) expect(statSync(config(name)).mode & 0o777).toBe(0o600);
  const { seats } = JSON.parse(readFileSync(config('trust.json'), 'utf8')) as { seats: unknown[] };
  expect(seats).toEqual([
    { name: thisSeat(), key: expect.stringMatching(/^[\w-]{43}$/), stores: [home.store] },
  ]);
  expect(await allowed(emacs, 'make first')).toMatchObject({ decision: { behavior: 'allow' } });
  // It may register a further key.
  await register(emacs, OTHER);
  await emacs.said(/Registered the seat laptop/);
  expect(JSON.parse(readFileSync(config('trust.json'), 'utf8'))).toEqual({
    seats: [...seats, { name: 'laptop', key: OTHER, stores: [home.store] }],
  });
  writeFileSync(config('trust.json'), '{}');
  expect(await allowed(emacs, 'make second')).toMatchObject({ decision: { behavior: 'deny' } });
  await emacs.said(/allowed nothing: no seat/);
});

test('an Emacs whose key is not the registered one allows nothing, and registers no other', async () => {
  mkdirSync(config(''), { recursive: true, mode: 0o700 });
  const seats = [{ name: thisSeat(), key: OTHER, stores: [home.store] }];
  writeFileSync(config('trust.json'), JSON.stringify({ seats }), { mode: 0o600 });
  const emacs = await home.emacs();
  await emacs.said(/Another key is registered/);
  expect(await allowed(emacs, 'make first')).toMatchObject({ decision: { behavior: 'deny' } });
  await register(emacs, seatKeyFrom('1'.repeat(64)).key);
  await emacs.said(/A further key is registered in an Emacs whose own key/);
  expect(JSON.parse(readFileSync(config('trust.json'), 'utf8'))).toEqual({ seats });
});

async function register(emacs: EmacsTerminal, key: string): Promise<void> {
  await emacs.command('hive-register-seat');
  await emacs.reply(/Name of the seat/, 'laptop');
  await emacs.reply(/Its public key/, key);
  await emacs.reply(/Let the seat laptop/, 'yes');
}
