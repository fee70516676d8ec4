/** Client suite 3: an interrupt that somebody asks for from a shell stops the real Claude Code. */
import { expect, test } from 'vitest';
import { shell } from '../support/cli.ts';
import { expectStopped, requested, start } from './support/claude-interrupts.ts';
import { openWorld } from './support/world.ts';

test('no tool of the batch runs, the turn ends, and the shell gets the outcome', async () => {
  const run = await start(await openWorld());
  const handle = await run.handle;
  const { start: begin } = shell(run.store, { HIVE_USER: 'ada' });
  const interrupt = begin('interrupt', handle, '--note', 'wrong branch', '--json');
  await requested(run, handle);
  run.goOn();
  const { code, json } = await interrupt.done;
  expect(code).toBe(0);
  const ask_id = await expectStopped(run, 'ada', 'cli');
  expect(json()).toMatchObject({
    outcome: 'aborted',
    abort_reason: 'interrupted',
    by: 'ada',
    cancelled_prompts: [ask_id],
  });
});
