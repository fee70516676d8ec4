/**
 * Making, listing and revoking rules with real keys in a real Emacs.
 *
 * @module-tag as-displayed
 * @module-tag emacs
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { humanTrust } from '../../src/infrastructure/platform/human-file.ts';
import type { OpenedHive } from '../../src/open-hive.ts';
import { fireDialog } from '../support/dialogs.ts';
import { type EmacsTerminal, type Home, openHome } from '../support/emacs.ts';
import { openTestHive } from '../support/hive.ts';
import { recordedEvent, said } from '../support/hooks.ts';
import { beforeFile } from '../support/lifetime.ts';

const BASH = recordedEvent('claude-code/PermissionRequest-Bash-addRules.json');
/** The directory of the recorded client, which is no repository. */
const findProject = () => ({ project: 'project', project_dir: '/home/user/project', branch: null });

let home: Home;
let hive: OpenedHive;
let emacs: EmacsTerminal;

beforeFile(async () => {
  home = await openHome();
  hive = await openTestHive(home.store);
  emacs = await home.emacs(undefined, { columns: 80, lines: 24 });
  await emacs.said(/Registered this seat/);
});

const ask = (command: string) => {
  // The seat of this Emacs, which it has registered, signs what is allowed here.
  const seats = () => humanTrust({ HOME: home.folder }).seats;
  const asked = { ...BASH, tool_input: { command } };
  return fireDialog(hive, asked, { surroundings: { findProject, seats } });
};

const written = (): string => readFileSync(join(home.folder, '.config/hive/trust.json'), 'utf8');

test('A shows the rule with what it would have answered; RET writes it and also allows the permission', async () => {
  for (const [text, decision] of [
    ['npm test src/a.ts', 'Allow'],
    ['npm test evil', 'Deny'],
  ] as const) {
    const { answer } = await ask(text);
    await answer(decision);
  }
  const { printed } = await ask('npm test src/b.ts');
  await emacs.said(/asks: Run npm test src\/b\.ts/);
  await emacs.command('hive-next');
  await emacs.answer(/Run npm test src\/b\.ts\?[\s\S]*A {2}Always allow/, 'A');
  await emacs.press(/input +npm test src\/b\.ts\n[\s\S]*0 that you allowed, 0 that you denied/, 'e');
  await emacs.press(/Input of the rule/, 'C-a', 'C-k');
  await emacs.enter('npm test*');
  await emacs.until(/1 that you allowed, 1 that you denied[\s\S]*You decided differently\n.*npm test evil/);
  expect(written()).not.toContain('npm test');
  // A day that is none changes nothing.
  await emacs.keys('x');
  await emacs.press(/Ends on/, 'C-a', 'C-k');
  await emacs.enter('tomorrow');
  await emacs.said(/A rule ends on a day such as/);
  await emacs.until(/ends +\d{4}-[\s\S]*1 that you allowed, 1 that you denied/);
  await emacs.keys('Enter');
  await emacs.press(
    /Allow this, and let the rule "Bash npm test\*" answer in your place from now on\?\\?\s*\(y or n\)/,
    'y',
  );
  const output = said(await printed)?.hookSpecificOutput;
  expect(output).toMatchObject({ decision: { behavior: 'allow' } });
  expect(JSON.parse(written())).toMatchObject({
    permission_rules: [{ tool: 'Bash', input: 'npm test*', project: '/home/user/project' }],
  });
  await emacs.command('hive-rules');
  // 80 columns have room for the end and the line, too.
  await emacs.press(/allow +Bash npm test\* +project +0 +\d{4}-\d\d-\d\d +:\d+$/m, 't');
  await emacs.press(/This rule answers in your place:[\s\S]*2 that you allowed, 1 that you denied/, 'q');
  await emacs.press(/k revoke/, 'k');
  await emacs.until(/None yet\. {2}Press A at a permission to make one/);
  expect(JSON.parse(written()).permission_rules).toBeUndefined();
});

// Of the three permissions above, and of this one.
test('the statistics show in 80 columns how long agents waited and where they were answered', async () => {
  const { answer } = await ask('npm test');
  await answer('Deny');
  await emacs.command('hive-stats');
  await emacs.press(/The last 7 days: 4 questions, 4 answered in time\./, 'd');
  await emacs.reply(/How many days \(default 7\):/, '2');
  await emacs.press(/The last 2 days: 4 questions/, 'C-x', '1');
  await emacs.until(/█+ 4$/m);
  const screen = await emacs.until(/by kind +4 [\s\S]*permission\n[\s\S]*Answered in\n +4 {2}Emacs/);
  const page = screen.filter((line) => !line.startsWith('-UUU'));
  expect(Math.max(...page.map((line) => line.length))).toBeLessThanOrEqual(80);
});
