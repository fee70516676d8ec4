/** A marked block at the end of somebody's file: added, and removed again to the byte. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { applyEdits, revertEdits } from '../../src/domain/text.ts';
import { blockPart } from '../../src/infrastructure/installation/init-files.ts';

const LINES = ['[mcp_servers.hive]', 'command = "hive"'];
const block = blockPart('/home/init', { comment: '#', by: 'hive init' }, LINES);

const line = fc.constantFrom('', 'a = 1', '# a comment', '[table]', '  indented = "x"', '# hive: ', '[hive]');
const files = fc
  .tuple(fc.array(line, { maxLength: 8 }), fc.constantFrom('\n', '\r\n'), fc.boolean())
  .map(([lines, eol, ends]) => lines.join(eol) + (ends && lines.length > 0 ? eol : ''));

describe('a block', () => {
  it('is found as it was written, and removed without a trace', () => {
    fc.assert(
      fc.property(files, (text) => {
        const edits = block.add(text, null);
        const after = applyEdits(text, edits);
        expect(after.startsWith(text)).toBe(true);
        expect(block.isRight(after)).toBe(true);
        expect(block.entries(after)).toEqual(LINES.map((text) => ({ kind: 'line', text })));
        expect(revertEdits(after, edits)).toBe(text);
        // Without a record, only the end of the last line is unknown.
        const cut = applyEdits(after, block.remove(after, null));
        expect(cut === text || cut === `${text}${text.includes('\r\n') ? '\r\n' : '\n'}`).toBe(true);
      }),
    );
  });

  it('is removed from between what others have written since', () => {
    const text = applyEdits('a = 1\n', block.add('a = 1\n', null));
    const since = `# first\n${text}\n[projects."/x"]\ntrust_level = "trusted"\n`;
    expect(applyEdits(since, block.remove(since, null))).toBe(
      '# first\na = 1\n\n[projects."/x"]\ntrust_level = "trusted"\n',
    );
  });

  it('is not found if a mark is missing', () => {
    const text = applyEdits('', block.add('', null)).replace('# hive: end\n', '');
    expect(block.entries(text)).toEqual([]);
    expect(block.remove(text, null)).toEqual([]);
  });
});
