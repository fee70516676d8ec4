/**
 * The text of agents and people, as elements: formatted Markdown (markdown.ts), diffs, commands. Never as HTML: a tag in a text
 * is shown as text. Hidden characters are spelled out, as in Emacs.
 */
import { Component, type ComponentChildren, type VNode } from 'preact';
import { useMemo } from 'preact/hooks';
import { revealed, revealedSource } from '../../../domain/display.ts';
import { type Block, blocksOf, type Inline } from './markdown.ts';
import type { State } from './model.ts';
import { WORDS } from './words.ts';

/**
 * Confines an error to its content, such as one message, so that the rest of the page works. Alternatives that can be tapped
 * belong outside of it.
 */
export class Boundary extends Component<{ children: ComponentChildren; instead?: () => ComponentChildren }> {
  override state = { failed: false };

  static override getDerivedStateFromError(): { failed: true } {
    return { failed: true };
  }

  override render(): ComponentChildren {
    const { children, instead } = this.props;
    if (!this.state.failed) return children;
    return instead === undefined ? <p class="problem">{WORDS.notDrawn}</p> : instead();
  }
}

/** The text of a list without rows, or while it was never read, why it has none. */
export function Empty({ inbox, text }: { inbox: State; text: string }): VNode {
  return (
    <p class="empty" role="status">
      {inbox.isRead ? text : notRead(inbox)}
    </p>
  );
}

/** Why the page does not show what it has not read; the top of the page says why the server refuses it. */
export function notRead({ connection, refused }: State): string {
  if (refused !== null) return '';
  return connection === 'offline' ? WORDS.notYet : WORDS.loading;
}

/** In formatted parts; the rest of a longer text is plain, because a screen has up to a hundred texts. */
const MOST_PARTS = 2_000;

/** Markdown, drawn again only if the text changes. */
export function Markdown({ text }: { text: string }): VNode {
  // Another text may be drawable after one that was not.
  return (
    <Boundary key={text} instead={() => <Source text={text} />}>
      <Formatted text={text} />
    </Boundary>
  );
}

function Formatted({ text }: { text: string }): VNode {
  return useMemo(
    () => (
      <div class="markdown" dir="auto">
        {blocksOf(revealed(text.replaceAll('\r\n', '\n')), MOST_PARTS).map(block)}
      </div>
    ),
    [text],
  );
}

/** A line or a paragraph of plain text, with its own writing direction: it would not get that from an element around it. */
export function Plain({ text, class: name }: { text: string; class?: string }): VNode {
  return (
    <span class={name} dir="auto">
      {useMemo(() => revealed(text), [text])}
    </span>
  );
}

function block(shown: Block): VNode {
  switch (shown.as) {
    case 'heading':
      // A heading of an agent's text is below those of the page.
      return <p class={`heading heading-${shown.level}`}>{inline(shown.of)}</p>;
    case 'paragraph':
      return <p>{inline(shown.of)}</p>;
    case 'quote':
      return (
        <blockquote>
          {shown.of.map((line) => (
            <p>{inline(line)}</p>
          ))}
        </blockquote>
      );
    case 'list':
      return (
        <ul class="items">
          {shown.of.map(({ depth, of }) => (
            <li class={`depth-${depth}`}>{inline(of)}</li>
          ))}
        </ul>
      );
    case 'table':
      return <Table rows={shown.of} />;
    case 'code':
      return <Code {...shown} />;
    case 'plain':
      return <p class="plain">{shown.of}</p>;
  }
}

function Table({ rows: [heading = [], ...rows] }: { rows: Inline[][][] }): VNode {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: people who only use a keyboard scroll a wide table with it
    <section class="scrolls" tabIndex={0} aria-label={WORDS.table}>
      <table>
        <thead>
          <tr>
            {heading.map((cell) => (
              <th scope="col">{inline(cell)}</th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr>
              {row.map((cell) => (
                <td>{inline(cell)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

function inline(parts: readonly Inline[]): ComponentChildren {
  return parts.map(part);
}

function part(shown: Inline): ComponentChildren {
  if (typeof shown === 'string') return shown;
  switch (shown.as) {
    case 'strong':
      return <strong>{inline(shown.of)}</strong>;
    case 'em':
      return <em>{inline(shown.of)}</em>;
    case 'del':
      return <del>{inline(shown.of)}</del>;
    case 'code':
      return <code>{revealedSource(shown.of)}</code>;
    case 'link':
      return (
        <a href={shown.of} target="_blank" rel="noopener noreferrer">
          {shown.of}
        </a>
      );
    case 'mark':
      return <Mark text={shown.of} />;
    case 'break':
      return <br />;
  }
}

/** Markup, shown as text. */
function Mark({ text }: { text: string }): VNode {
  return <span class="markup">{text}</span>;
}

/** A permission's text, character by character: nothing is left out, scrolled out of sight, or drawn as something else. */
export function Source({ text }: { text: string }): VNode {
  return (
    <span class="source" dir="ltr">
      {useMemo(() => revealedSource(text), [text])}
    </span>
  );
}

/** Source text, a command or a diff, with every misleading character marked. */
function Code({ of, language, opened, closed }: Omit<Extract<Block, { as: 'code' }>, 'as'>): VNode {
  const text = revealedSource(of);
  const lines = text.split('\n');
  const isDiff = (language === 'diff' || language === 'patch') && lines.length <= MOST_PARTS;
  return (
    <pre class="scrolls" dir="ltr">
      {opened === null ? null : <Mark text={`${opened}\n`} />}
      <code>
        {isDiff
          ? lines.map((line, index) => (
              <span class={diffClass(line)}>
                {line}
                {index < lines.length - 1 ? '\n' : ''}
              </span>
            ))
          : text}
      </code>
      {closed === null ? null : <Mark text={`\n${closed}`} />}
    </pre>
  );
}

function diffClass(line: string): string | undefined {
  if (line.startsWith('+')) return 'added';
  if (line.startsWith('-')) return 'removed';
  return line.startsWith('@@') ? 'hunk' : undefined;
}
