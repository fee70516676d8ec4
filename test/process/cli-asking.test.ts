/**
 * `hive ask` as scripts use it: what it prints, and its exit codes.
 *
 * @module-tag silence
 * @module-tag cli
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { shell } from '../support/cli.ts';
import { tempFolder, tempStore } from '../support/temp.ts';
import { eventually } from '../support/wait.ts';

describe('asking', () => {
  it('prints the ask_id and nothing else', async () => {
    const person = shell(tempStore());
    const { code, out } = await person.hive('ask', 'Deploy?', '--option', 'yes', '--option', 'no');
    expect(code).toBe(0);
    expect(out).toMatch(/^ask-[0-9a-z]{16}\n$/);
  });

  it('accepts every field of a question', async () => {
    const person = shell(tempStore());
    const context = join(tempFolder(), 'context.md');
    writeFileSync(context, '# Why\n');
    const flags = ['--multi', '--no-free-text', '--header', 'Release', '--context-file', context];
    const more = [
      '--kind',
      'permission',
      '--urgency',
      'critical',
      '--timeout',
      '10m',
      '--key',
      'k1',
      '--json',
    ];
    const asked = await person.hive('ask', 'Deploy?', '--option', 'a', '--option', 'b', ...flags, ...more);
    const found = (await person.hive('poll', asked.json().ask_id, '--json')).json();
    expect(found).toMatchObject({
      question: 'Deploy?',
      options: [{ label: 'a' }, { label: 'b' }],
      multi_select: true,
      allow_free_text: false,
      header: 'Release',
      context: '# Why\n',
      kind: 'permission',
      urgency: 'critical',
      idempotency_key: 'k1',
    });
    expect(Date.parse(found.expires_at) - Date.parse(found.created_at)).toBe(600_000);
  });

  it('is the same question under the same key', async () => {
    const person = shell(tempStore());
    const first = await person.hive('ask', 'Deploy?', '--key', 'k', '--json');
    const again = await person.hive('ask', 'Deploy?', '--key', 'k', '--json');
    expect(again.json()).toMatchObject({ ask_id: first.json().ask_id, existing: true });
    expect((await person.hive('ask', 'Deploy?', '--key', 'k')).err).toMatch(
      /^hive: You asked this before, and it stays as it was asked then\. It has been pending for \d+ s\.\n$/,
    );
    expect((await person.hive('ask', 'Other?', '--key', 'k')).code).toBe(1);
  });

  it('--wait prints only the decision, when it arrives', async () => {
    const person = shell(tempStore());
    const waiting = person.start('ask', 'Deploy?', '--option', 'yes', '--wait');
    let ask_id = '';
    await eventually(async () => {
      ask_id = (await person.hive('list', '--json')).json().prompts[0]?.ask_id ?? '';
      return ask_id !== '';
    });
    expect((await person.hive('respond', ask_id, 'yes')).code).toBe(0);
    expect(await waiting.done).toMatchObject({ code: 0, out: 'yes\n', err: '' });
  });

  it('--wait DURATION gives up waiting, not the question', async () => {
    const person = shell(tempStore());
    const waited = await person.hive('ask', 'Deploy?', '--wait', '50ms');
    expect(waited).toMatchObject({ code: 3, out: '' });
    expect((await person.hive('list', '--json')).json().prompts).toHaveLength(1);
  });

  it('--wait exits with 4 when the question expires, and prints no decision', async () => {
    const waited = await shell(tempStore()).hive('ask', 'Deploy?', '--timeout', '1s', '--wait');
    expect(waited).toMatchObject({ code: 4, out: '' });
    expect(waited.err).toContain('expired without an answer.');
  });

  it('refuses invalid arguments with exit code 2, and stores nothing', async () => {
    const person = shell(tempStore());
    for (const args of [
      [],
      [''],
      ['Q', '--timeout', 'soon'],
      ['Q', '--urgency', 'huge'],
      ['Q', '--nonsense'],
    ])
      expect((await person.hive('ask', ...args)).code).toBe(2);
    expect((await person.hive('ask', 'Q', '--context-file', '/nowhere')).code).toBe(2);
    const latin1 = join(tempFolder(), 'latin1.md');
    writeFileSync(latin1, Buffer.from('Caf\xe9', 'latin1'));
    // In the words of the command line.
    for (const [args, sentence] of [
      [['--timeout', '0s'], '--timeout is 0s: give 1s to 30d.'],
      [['--to', 'Ada', '--escalate-after', '31d'], '--escalate-after is 31d: give 1s to 30d.'],
      [['--escalate-after', '1m'], '--escalate-after needs --to'],
      [['--no-free-text'], '--no-free-text needs --option'],
      [['--key', ''], '--key is empty'],
      [['--context-file', latin1], `The file ${latin1} is not UTF-8. Nothing was asked.`],
    ] as const)
      expect(await person.hive('ask', 'Q', ...args)).toMatchObject({
        code: 2,
        err: expect.stringContaining(`hive: ${sentence}`),
      });
    expect((await person.hive('list', '--status', 'all', '--json')).json().prompts).toEqual([]);
  });
});
