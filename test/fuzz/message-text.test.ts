/**
 * The message parser and the shared buffer as text, against what a message was built of.
 *
 * @module-tag untrusted
 * @module-tag emacs
 */
import fc from 'fast-check';
import { foldHandle, parseMentions } from '../../src/domain/mention-parser.ts';
import { normalizeBody, parseShared, renderBlock, renderShared } from '../../src/domain/messages.ts';
import { fuzz } from './fuzz.ts';
import { oddText } from './inputs.ts';

const handle = fc.stringMatching(/^[A-Za-z][A-Za-z0-9]{0,8}(-[a-z0-9]{1,5})?$/);

/** A paragraph and whom it mentions. Markup that hides a name is in a separate paragraph, so it ends there. */
const paragraph: fc.Arbitrary<{ text: string; calls: string[] }> = fc.oneof(
  handle.map((name) => ({ text: `@${name} look`, calls: [name] })),
  handle.map((name) => ({ text: `well, @${name}.`, calls: [name] })),
  handle.map((name) => ({ text: `- (@${name})`, calls: [name] })),
  handle.map((name) => ({ text: `**@${name}**`, calls: [name] })),
  handle.map((name) => ({ text: `> @${name} said`, calls: [] })),
  handle.map((name) => ({ text: `write \`@${name}\` there`, calls: [] })),
  handle.map((name) => ({ text: `ask me@${name}.example`, calls: [] })),
  handle.map((name) => ({ text: `\\@${name}`, calls: [] })),
  handle.map((name) => ({ text: `https://x.example/@${name}/y`, calls: [] })),
  handle.map((name) => ({ text: `\`\`\`\n@${name}\n\`\`\``, calls: [] })),
  handle.map((name) => ({ text: `~~~~ js\n@${name} \`\`\`\n~~~~`, calls: [] })),
);

fuzz('message text: those that its paragraphs mention are mentioned, and nobody else', 500, () =>
  fc.property(fc.array(paragraph, { maxLength: 8 }), (paragraphs) => {
    const found = parseMentions(paragraphs.map(({ text }) => text).join('\n\n'));
    const wanted = new Set(paragraphs.flatMap(({ calls }) => calls.map(foldHandle)));
    const got = new Set(found.map(foldHandle));
    if (got.size !== found.length) throw new Error(`Twice in ${JSON.stringify(found)}`);
    if ([...wanted].sort().join() !== [...got].sort().join())
      throw new Error(`Found ${JSON.stringify([...got])}, wanted ${JSON.stringify([...wanted])}`);
  }),
);

const mess = fc
  .array(
    fc.oneof(oddText, fc.constantFrom('`', '``', '```', '~~~', '> ', '\n', '\\', '@', '@A-1', 'http://')),
    { maxLength: 40 },
  )
  .map((parts) => parts.join(''));

fuzz('message text: the handles found in any text are in it', 500, () =>
  fc.property(mess, (text) => {
    for (const name of parseMentions(text)) {
      if (!text.includes(`@${name}`) || !/^[\p{L}\p{M}\p{N}_-]+$/u.test(name.normalize('NFC')))
        throw new Error(`${JSON.stringify(name)} in ${JSON.stringify(text)}`);
    }
  }),
);

const block = fc.record({
  stamp: fc.constantFrom('2026-01-11 18:00:00', '1999-12-31 23:59:59'),
  handle: fc.stringMatching(/^[A-Za-z0-9_-]{1,12}$/),
  body: fc
    .array(fc.oneof(mess, fc.constantFrom('## 2026-01-11 18:00:00 X', '\\## 2026-01-11 18:00:00 X', '---')))
    .map((lines) => normalizeBody(lines.join('\n').replace(/\r\n?/g, '\n')))
    .filter((body) => body !== ''),
});

fuzz('message text: the shared buffer is parsed as it was written', 300, () =>
  fc.property(fc.array(block, { maxLength: 5 }), oddText, (blocks, project) => {
    const text = renderShared(blocks, { created: '2026-01-11 18:00:00', project });
    const read = parseShared(text).blocks;
    if (JSON.stringify(read) !== JSON.stringify(blocks))
      throw new Error(`Read ${JSON.stringify(read)} in ${JSON.stringify(blocks.map(renderBlock))}`);
  }),
);
