/** Asking over MCP: from an agent's call to the result, with the question on disk. */
import { openBareStore } from '../bare-store.ts';
import { connect, connectHive, ECHO, environment, tempFolder } from '../children.ts';
import { added, type Family, interleave, timed } from '../harness.ts';

const question = 'Drop the old sessions table after the migration?';

export const ask: Family = {
  name: 'ask',
  rows: ['ask over MCP'],
  async measure(effort) {
    const folder = tempFolder();
    const hive = await connectHive(folder);
    const echo = await connect([ECHO], environment(folder));
    const bare = openBareStore(folder);
    const samples = await interleave(effort === 'full' ? 400 : 60, {
      hive: () =>
        timed(() => hive.call('hivemind_ask_async', { question, options: ['yes', 'keep it a week', 'no'] })),
      echo: () => timed(() => echo.call('echo', { question })),
      bare: () => bare.commit(),
    });
    bare.close();
    return [
      {
        name: 'ask over MCP',
        unit: 'ms',
        samples: samples.hive,
        floor: added(samples.echo, samples.bare),
        target: { of: 'ratio', at_most: 1.6 },
      },
    ];
  },
};
