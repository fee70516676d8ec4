/** An idle Codex in its terminal, hosted by Codex' own daemon, is woken by an answer through `codex queue`. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { remainingProcesses } from '../support/children.ts';
import { HUMAN } from '../support/hive.ts';
import { expectNothingLeft } from '../support/leaks.ts';
import { openTerminal } from '../support/tmux.ts';
import { eventually } from '../support/wait.ts';
import { type CodexRun, codexEnvironment, codexHome, configureCodex } from './support/codex.ts';
import { hive as call, startResponses } from './support/responses.ts';
import { askIdIn, clients, openWorld } from './support/world.ts';

expectNothingLeft();

/** Starts the daemon that terminals of this home share; ended with all that it started when the test has finished. */
function startDaemon(run: CodexRun, env: Record<string, string>): void {
  const daemon = (command: string): void => {
    const options = { env, cwd: run.folder, timeout: 30_000, stdio: 'pipe' } as const;
    execFileSync(run.clients.codex, ['app-server', 'daemon', command], options);
  };
  onTestFinished(async () => {
    daemon('stop');
    // Its updater goes on by itself.
    for (const line of remainingProcesses().filter((text) => text.includes(run.folder)))
      process.kill(Number(line.split(' ')[0]), 'SIGKILL');
    await eventually(() => remainingProcesses().length === 0, 5_000).catch(() => undefined);
  });
  daemon('start');
}

describe.skipIf(clients === null)('an answer for an idle Codex', () => {
  test('begins a turn that says what to call, and comes as the result of that call', async () => {
    const world = await openWorld();
    const { hive, ...rest } = world;
    const model = await startResponses(({ input }, step) => {
      if (step === 1) return { calls: [call('hivemind_ask_async', { question: 'Red or blue?' })] };
      if (!model.told().includes('<task-notification>')) return { text: `reply ${step}` };
      return { calls: [call('hivemind_poll', { ask_id: askIdIn(input) })] };
    });
    const run = { ...rest, model };
    configureCodex(run);
    // The daemon's hooks would have to be trusted first; our server alone is what wakes.
    rmSync(join(codexHome(run), 'hooks.json'));
    const place = join(world.folder, 't');
    mkdirSync(place);
    const env = { ...codexEnvironment(run), TERM: 'xterm-256color', TMPDIR: place };
    startDaemon(run, env);
    const command = ['env', '-C', world.folder, world.clients.codex];
    const codex = await openTerminal(place, env, command, { columns: 120, lines: 40 });
    onTestFinished(() => codex.close());
    await codex.until(/Ask Codex to do anything/, 20_000);
    await codex.type('first words');
    await codex.until(/first words/);
    await codex.keys('Enter');
    await codex.until(/reply \d[\s\S]*Worked for/, 20_000);
    const [prompt] = (await hive.prompts.list({ limit: 1 })).items;
    const ask_id = prompt?.ask_id ?? '';
    await hive.prompts.respond({ ask_id, decision: 'blue', actor: HUMAN });
    await codex.until(/is answered: call hivemind_poll[\s\S]*reply \d[\s\S]*Worked for/, 20_000);
    expect(model.everything().replaceAll('\\', '')).toContain('"decision":"blue"');
    const events = await hive.store.read((tx) => tx.events.after(0, 1_000));
    expect(events.filter(({ type }) => type === 'session/woken')).toHaveLength(1);
  });
});
