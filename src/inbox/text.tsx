/**
 * What agents wrote, as elements: Markdown by the tokens of a parser, diffs, commands. Never as HTML: a tag in a text is
 * shown as the text that it is. Hidden characters are spelled out, as in Emacs.
 */
import { lexer, type MarkedToken, type Token } from 'marked';
import type { ComponentChildren, VNode } from 'preact';
import { revealed, revealedSource } from '../domain/display.ts';
import { WORDS } from './words.ts';

/** Markdown that an agent wrote. */
export function Markdown({ text }: { text: string }): VNode {
  return (
    <div class="markdown" dir="auto">
      {blocks(lexer(text, { gfm: true, breaks: false }))}
    </div>
  );
}

/** A line or a paragraph of plain text. */
export function Plain({ text }: { text: string }): VNode {
  return <span dir="auto">{revealed(text)}</span>;
}

function blocks(tokens: readonly Token[]): ComponentChildren {
  return tokens.map((token) => block(token as MarkedToken));
}

function block(token: MarkedToken): ComponentChildren {
  switch (token.type) {
    case 'space':
    case 'def':
    // Its list item shows it.
    case 'checkbox':
      return null;
    case 'heading':
      // A heading of an agent's text is below those of the page.
      return <p class={`heading heading-${token.depth}`}>{inline(token.tokens)}</p>;
    case 'paragraph':
      return <p>{inline(token.tokens)}</p>;
    case 'text':
      return token.tokens === undefined ? revealed(token.text) : inline(token.tokens);
    case 'code':
      return <Code text={token.text} language={token.lang ?? ''} />;
    case 'blockquote':
      return <blockquote>{blocks(token.tokens)}</blockquote>;
    case 'hr':
      return <hr />;
    case 'list': {
      const items = token.items.map((item) => (
        <li>
          {item.task ? (item.checked === true ? '☑ ' : '☐ ') : null}
          {blocks(item.tokens)}
        </li>
      ));
      return token.ordered ? <ol start={Number(token.start) || 1}>{items}</ol> : <ul>{items}</ul>;
    }
    case 'table':
      return (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: who has only a keyboard scrolls a wide table with it
        <section class="scrolls" tabIndex={0} aria-label={WORDS.table}>
          <table>
            <thead>
              <tr>
                {token.header.map((cell) => (
                  <th scope="col">{inline(cell.tokens)}</th>
                ))}
              </tr>
            </thead>
            <tbody>
              {token.rows.map((row) => (
                <tr>
                  {row.map((cell) => (
                    <td>{inline(cell.tokens)}</td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </section>
      );
    default:
      // HTML above all: it is text.
      return <p>{revealed(token.raw)}</p>;
  }
}

function inline(tokens: readonly Token[] | undefined): ComponentChildren {
  return (tokens ?? []).map((token) => span(token as MarkedToken));
}

function span(token: MarkedToken): ComponentChildren {
  switch (token.type) {
    case 'strong':
      return <strong>{inline(token.tokens)}</strong>;
    case 'em':
      return <em>{inline(token.tokens)}</em>;
    case 'del':
      return <del>{inline(token.tokens)}</del>;
    case 'codespan':
      return <code>{revealedSource(token.text)}</code>;
    case 'br':
      return <br />;
    case 'link':
      return <Link href={token.href}>{inline(token.tokens)}</Link>;
    case 'image':
      // Nothing is loaded from elsewhere.
      return <Link href={token.href}>{revealed(token.text)}</Link>;
    case 'escape':
    case 'text':
      return revealed(token.text);
    default:
      return revealed(token.raw);
  }
}

/** A link shows where it leads, and leads to nothing but a web page. */
function Link({ href, children }: { href: string; children: ComponentChildren }): VNode {
  const url = URL.parse(href);
  const address = revealed(href);
  if (url === null || (url.protocol !== 'https:' && url.protocol !== 'http:'))
    return (
      <span>
        {children} ({address})
      </span>
    );
  return (
    <span>
      {children} (
      <a href={url.href} target="_blank" rel="noopener noreferrer">
        {address}
      </a>
      )
    </span>
  );
}

/** What a permission asks, character by character: nothing is left out, hidden at the side, or drawn as something else. */
export function Source({ text }: { text: string }): VNode {
  return (
    <span class="source" dir="ltr">
      {revealedSource(text)}
    </span>
  );
}

/** Source text, a command or a diff, with each character that does not look like what it is. */
function Code({ text, language }: { text: string; language: string }): VNode {
  const lines = revealedSource(text).split('\n');
  const isDiff = language === 'diff' || language === 'patch';
  return (
    <pre class="scrolls" dir="ltr">
      <code>
        {lines.map((line, index) => (
          <span class={isDiff ? diffClass(line) : undefined}>
            {line}
            {index < lines.length - 1 ? '\n' : ''}
          </span>
        ))}
      </code>
    </pre>
  );
}

function diffClass(line: string): string | undefined {
  if (line.startsWith('+')) return 'added';
  if (line.startsWith('-')) return 'removed';
  return line.startsWith('@@') ? 'hunk' : undefined;
}
