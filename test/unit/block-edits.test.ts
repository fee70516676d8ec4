/** A marked block at the end of somebody's file: added, and removed again to the byte. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { applyEdits, revertEdits } from '../../src/domain/text.ts';
import { appendBlock, findBlock, removeBlock } from '../../src/infrastructure/installation/emacs.ts';

const MARKS = { comment: '#', name: 'hive server', by: 'hive init' };
const LINES = ['[mcp_servers.hive]', 'command = "hive"'];

const line = fc.constantFrom(
  '',
  'a = 1',
  '# a comment',
  '[table]',
  '  indented = "x"',
  '# hive server',
  '[hive]',
);
const files = fc
  .tuple(fc.array(line, { maxLength: 8 }), fc.constantFrom('\n', '\r\n'), fc.boolean())
  .map(([lines, eol, ends]) => lines.join(eol) + (ends && lines.length > 0 ? eol : ''));

describe('a block', () => {
  it('is found as it was written, and removed without a trace', () => {
    fc.assert(
      fc.property(files, (text) => {
        const edits = appendBlock(text, MARKS, LINES);
        const after = applyEdits(text, edits);
        expect(after.startsWith(text)).toBe(true);
        expect(findBlock(after, MARKS)).toBe(`${LINES.join('\n')}\n`);
        expect(revertEdits(after, edits)).toBe(text);
        // Without a record, only the end of the last line is unknown.
        const cut = applyEdits(after, removeBlock(after, MARKS));
        expect(cut === text || cut === `${text}${text.includes('\r\n') ? '\r\n' : '\n'}`).toBe(true);
      }),
    );
  });

  it('is removed from between what others have written since', () => {
    const text = applyEdits('a = 1\n', appendBlock('a = 1\n', MARKS, LINES));
    const since = `# first\n${text}\n[projects."/x"]\ntrust_level = "trusted"\n`;
    expect(applyEdits(since, removeBlock(since, MARKS))).toBe(
      '# first\na = 1\n\n[projects."/x"]\ntrust_level = "trusted"\n',
    );
  });

  it('is not found if a mark is missing', () => {
    const text = applyEdits('', appendBlock('', MARKS, LINES)).replace('# hive server: end\n', '');
    expect(findBlock(text, MARKS)).toBeNull();
    expect(removeBlock(text, MARKS)).toEqual([]);
  });
});
