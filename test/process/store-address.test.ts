/** An address that names no place is refused on every surface, before anything is stored. */
import { expect, test } from 'vitest';
import { openHive } from '../../src/open-hive.ts';
import { childEnvironment, spawnHive } from '../support/children.ts';
import { shell } from '../support/cli.ts';
import { recordingLog } from '../support/hive.ts';
import { connectMcp } from '../support/mcp-client.ts';
import { namesIn, tempHome } from '../support/temp.ts';

const REFUSED =
  /"hive\.db", which is neither an absolute path nor a postgres:\/\/ URL\. Nothing was stored\./;

test.each([
  [['ask', 'Where?'], 2],
  [['list'], 2],
  [['status'], 2],
  [['token', 'list'], 2],
  [['token', 'show'], 2],
  [['serve', '--port', '0'], 2],
  [['sidecar'], 2],
  [['store', 'prune'], 2],
  [['store', 'migrate', '--to', '/nowhere/hive.db'], 2],
  // It fails open.
  [['hook'], 0],
] as [string[], number][])('hive %j', async (args, code) => {
  const HOME = tempHome();
  const child = spawnHive(args, childEnvironment('hive.db', { HOME }));
  child.process.stdin.end('{"hook_event_name":"SessionStart","session_id":"s","cwd":"/"}');
  expect([(await child.exited).code, child.stderr()]).toEqual([code, expect.stringMatching(REFUSED)]);
  expect(namesIn(HOME).filter((name) => !name.startsWith('.'))).toEqual([]);
});

test('hive doctor shows it as a failed check', async () => {
  const HOME = tempHome();
  const { code, out } = await shell('hive.db', { HOME }).hive('doctor');
  expect([code, out]).toEqual([1, expect.stringMatching(/FAIL +Store[\s\S]*neither an absolute path/)]);
});

test('hive mcp keeps its tools, and each call says what is wrong', async () => {
  const HOME = tempHome();
  const agent = await connectMcp({ store: 'hive.db', env: { HOME, HIVE_AGENT: 'agent-1' } });
  await expect(agent.call('hivemind_ask_async', { question: 'Where?' })).rejects.toThrow(REFUSED);
  expect(namesIn(HOME).filter((name) => !name.startsWith('.'))).toEqual([]);
});

test('the library', async () => {
  await expect(openHive({ store: 'hive.db', env: {}, log: recordingLog() })).rejects.toThrow(REFUSED);
});
