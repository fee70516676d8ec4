/** `hive hook`: it starts for each event of an agent, so it must be about as fast as starting Node. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { humanAuthor } from '../../src/domain/messages.ts';
import { openHive } from '../../src/open-hive.ts';
import { environment, HIVE, storeIn, tempFolder, wallTime } from '../children.ts';
import { type Family, interleave } from '../harness.ts';

/** As recorded from Claude Code. */
const recorded = readFileSync(join(import.meta.dirname, '../pre-tool-use.json'), 'utf8');
const event = JSON.parse(recorded) as { session_id: string; cwd: string };
const busy = { ...event, session_id: '5e551000-0000-4000-8000-000000000002' };
const MENTIONS = 100;

export const hook: Family = {
  name: 'hook',
  rows: ['hive hook, nothing to say', `hive hook, ${MENTIONS} mentions`],
  async measure(effort) {
    const folder = tempFolder();
    const env = environment(folder);
    await mention(folder);
    const run = (given: unknown): Promise<number> => wallTime([HIVE, 'hook'], env, JSON.stringify(given));
    const samples = await interleave(effort === 'full' ? 60 : 12, {
      node: () => wallTime(['-e', '0'], env, recorded),
      quiet: () => run(event),
      busy: () => run(busy),
    });
    return [
      {
        name: 'hive hook, nothing to say',
        unit: 'ms',
        samples: samples.quiet,
        floor: samples.node,
        target: { of: 'ratio', at_most: 1.3 },
      },
      {
        name: `hive hook, ${MENTIONS} mentions`,
        unit: 'ms',
        samples: samples.busy,
        floor: samples.node,
        target: { of: 'ratio', at_most: 1.5 },
      },
    ];
  },
};

/** The human mentions the busy session a hundred times. */
async function mention(folder: string): Promise<void> {
  const hive = await openHive({ store: storeIn(folder), env: {} });
  const session = await hive.sessions.introduce({
    session_id: busy.session_id,
    client: 'claude-code',
    source: 'main',
    project: 'project',
    project_dir: event.cwd,
    branch: null,
    parent_session_id: null,
    machine: 'bench',
    pid: null,
  });
  for (let count = 1; count <= MENTIONS; count++) {
    await hive.messages.post({
      body: `@${session.handle} look at number ${count} before you go on.`,
      author: humanAuthor('emacs', { project: 'project', project_dir: event.cwd }),
    });
  }
  await hive.close();
}
