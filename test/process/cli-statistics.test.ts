/** `hive rules` and `hive stats`: what a shell shows of the rules and of the statistics. */
import { expect, test } from 'vitest';
import { shell } from '../support/cli.ts';
import { openDesk } from '../support/dialogs.ts';
import { ask, HUMAN, newHive } from '../support/hive.ts';
import { fire, recordedEvent, withRules } from '../support/hooks.ts';
import { trusting } from '../support/human-file.ts';

const BASH = recordedEvent('claude-code/PermissionRequest-Bash-addRules.json');
const TESTS = { decision: 'allow', tool: 'Bash', input: 'npm test', name: 'tests', expires: '2999-01-01' };

test('rules are listed with their use, their end and their line; what is wrong with the file comes first', async () => {
  const { store, hive } = await newHive();
  await openDesk(hive);
  await fire(hive, BASH, withRules(TESTS));
  const env = trusting(`{"permission_rules": [\n${JSON.stringify(TESTS)}]}`);
  const { out, code } = await shell(store, env).hive('rules');
  expect(code).toBe(0);
  expect(out).toMatch(/^allow +Bash npm test +1 +\d+ s +2999-01-01 +\/.*trust\.json:2$/m);
  const broken = shell(
    store,
    trusting(`{"permission_rules": [${JSON.stringify({ ...TESTS, expires: 'soon' })}]}`),
  );
  expect(await broken.hive('rules')).toMatchObject({
    code: 1,
    err: expect.stringContaining('Rule 1 of trust.json has an "expires" that is not a day') as string,
  });
  const { rules } = (await shell(store, env).hive('rules', '--json')).json();
  expect(rules).toMatchObject([{ name: 'tests', uses: 1, line: 2, expired: false }]);
});

test('the statistics fit into 80 columns, and say how long and where', async () => {
  const { store, hive } = await newHive();
  const { ask_id } = await ask(hive, { question: `Which colour${' of them all'.repeat(20)}?` });
  await hive.prompts.respond({ ask_id, decision: 'red', actor: HUMAN });
  const asker = await hive.prompts.get(ask_id);
  await ask(hive, { question: 'Which size?' });
  const person = shell(store);
  const { out, code } = await person.hive('stats', '--since', '2d');
  expect(code).toBe(0);
  expect(out).toMatch(/^Since \d{4}-\d\d-\d\d: 2 questions, 1 answered in time, 1 pending\.$/m);
  expect(out).toMatch(/^ {2}by kind +2 +\d+ s +\d+ s +question$/m);
  // As everywhere, the agent has its title.
  expect(asker.agent_title).not.toBe(asker.agent);
  expect(out).toMatch(new RegExp(`^  by agent .* ${asker.agent_title}$`, 'm'));
  expect(out).toMatch(/^ANSWERED IN\n {2}Emacs +1$/m);
  expect(Math.max(...out.split('\n').map((line) => line.length))).toBeLessThanOrEqual(80);
  expect((await person.hive('stats', '--json')).json()).toMatchObject({ stats: { total: { asked: 2 } } });
});
