/** The other screens: agents and their interrupt, the shared buffer, cards and reports, the history. */
import type { VNode } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { revealed } from '../../../domain/display.ts';
import type { HistoryEntry } from '../../../domain/history.ts';
import { authorName, type Message } from '../../../domain/messages.ts';
import type { Outreach } from '../../../domain/outreach.ts';
import type { Session } from '../../../domain/sessions.ts';
import { headedBy, unsaidProject } from '../../../domain/sources.ts';
import { useDraft } from './drafts.ts';
import { randomId } from './keys.ts';
import {
  ask,
  closeOutreach,
  dismissEntry,
  flush,
  type MentionShown,
  type SessionShown,
  type State,
} from './model.ts';
import { sectionsOf } from './order.ts';
import { queue } from './outbox.ts';
import { Stuck } from './prompt.tsx';
import { storeTime } from './server.ts';
import type { Fate } from './storage.ts';
import { Boundary, Empty, Markdown, Plain } from './text.tsx';
import { duration, WORDS } from './words.ts';

const ago = (at: string): string => duration(Date.parse(storeTime()) - Date.parse(at));

// ---- Agents ----

export function SessionsScreen({ inbox }: { inbox: State }): VNode {
  const sections = sectionsOf([...inbox.sessions, ...inbox.ended]);
  return (
    <>
      <h1 tabIndex={-1}>{WORDS.sessions}</h1>
      {sections.length === 0 ? <Empty inbox={inbox} text={WORDS.noSessions} /> : null}
      {sections.map(({ section, sessions }) => {
        const heading = `${WORDS.sections[section]} (${sessions.length})`;
        const rows = <SessionRows sessions={sessions} inbox={inbox} />;
        return section === 'ended' ? (
          <details key={section} class="more">
            <summary>{heading}</summary>
            {rows}
          </details>
        ) : (
          <section key={section} aria-label={WORDS.sections[section]}>
            <h2>{heading}</h2>
            {rows}
          </section>
        );
      })}
    </>
  );
}

function SessionRows({ sessions, inbox }: { sessions: readonly SessionShown[]; inbox: State }): VNode {
  return (
    <ul class="rows">
      {sessions.map((session) => (
        <li key={session.session_id} class="row">
          <Boundary>
            <SessionItem session={session} blocking={blockingOf(session, inbox)} />
          </Boundary>
        </li>
      ))}
    </ul>
  );
}

/** The question that the agent is waiting for. */
function blockingOf({ session_id }: Session, { prompts }: State): string | undefined {
  const blocking = [...(prompts?.values() ?? [])].find(
    (prompt) => prompt.session_id === session_id && prompt.blocked_since !== null,
  );
  return blocking?.question;
}

function SessionItem({ session, blocking }: { session: SessionShown; blocking: string | undefined }): VNode {
  const said = saidBy(session);
  return (
    <>
      <Plain class="row-title" text={session.title} />
      <span class="meta">
        <Plain text={session.handle} /> · {session.source} · <Plain text={session.project} /> ·{' '}
        {ago(since(session))} · <Plain text={doing(session, blocking)} />
      </span>
      {said === null ? null : <Plain class="row-text" text={said} />}
      {session.turn?.state === 'in_progress' ? <Interrupt session={session} /> : null}
    </>
  );
}

/** The time since which its state has not changed. */
function since({ section, turn, ended_at, last_seen_at }: SessionShown): string {
  if (section === 'working') return turn?.started_at ?? last_seen_at;
  return (section === 'ended' ? ended_at : turn?.ended_at) ?? last_seen_at;
}

/** Its activity, or how its last turn ended. */
function doing({ section, turn, state }: SessionShown, blocking: string | undefined): string {
  if (blocking !== undefined) return WORDS.blockedBy(blocking);
  if (turn === null || turn === undefined) return state;
  if (turn.tool !== null) return WORDS.doing(turn.tool, ago(turn.tool_since ?? turn.started_at));
  return section === 'working' ? WORDS.running : turn.sentence;
}

/** The end of what a working agent said last, or the first line of what a finished one said. */
function saidBy({ section, turn }: SessionShown): string | null {
  const said = turn?.last_words?.trim();
  if (said === undefined || said === '' || section === 'ended') return null;
  if (section === 'idle') return said.split('\n', 1)[0] ?? null;
  const line = said.replaceAll(/\s+/g, ' ');
  // Cut between characters, not between code units.
  const characters = [...line];
  return WORDS.said(characters.length <= MOST_SAID ? line : `…${characters.slice(-MOST_SAID).join('')}`);
}

/** In characters: how much of an agent's last words its row shows. */
const MOST_SAID = 100;

function Interrupt({ session: { session_id, title } }: { session: Session }): VNode {
  const [step, setStep] = useState<'closed' | 'asking' | 'waiting'>('closed');
  const [note, setNote] = useState('');
  const [outcome, setOutcome] = useState<string | null>(null);

  async function interrupt(): Promise<void> {
    setStep('waiting');
    try {
      const params = { session_id, note: note.trim() === '' ? null : note, timeout_ms: 20_000 };
      setOutcome((await ask<{ sentence: string }>('turn/interrupt', params)).sentence);
    } catch (error) {
      setOutcome(error instanceof Error ? error.message : String(error));
    }
    setStep('closed');
  }

  return (
    <>
      {step === 'closed' ? (
        <button type="button" onClick={() => setStep('asking')}>
          {WORDS.interrupt}
        </button>
      ) : (
        <form
          class="interrupt"
          onSubmit={(event) => {
            event.preventDefault();
            void interrupt();
          }}
        >
          <p>
            <Plain text={WORDS.interruptSure(title)} />
          </p>
          <label>
            {WORDS.interruptNote}
            <input value={note} dir="auto" onInput={(event) => setNote(event.currentTarget.value)} />
          </label>
          <button type="submit" class="primary" disabled={step === 'waiting'}>
            {step === 'waiting' ? WORDS.interrupting : WORDS.interrupt}
          </button>
          <button type="button" disabled={step === 'waiting'} onClick={() => setStep('closed')}>
            {WORDS.cancel}
          </button>
        </form>
      )}
      <p role="status">{outcome}</p>
    </>
  );
}

// ---- The shared buffer ----

/** The author as in Emacs: a human by name, an agent by its title. The name of a heading that is not theirs follows. */
export function authorOf(
  { by, from_handle, as_handle }: Pick<Message, 'by' | 'from_handle' | 'as_handle'>,
  session_id: string | null,
  { sessions }: State,
): string {
  const title = sessions.find((session) => session.session_id === session_id)?.title;
  return authorName({ from_handle: by ?? title ?? from_handle, as_handle });
}

/** A project as it follows the name of an author that does not contain it. */
export function Project({ author, project }: { author: string; project: string | null }): VNode | null {
  const unsaid = unsaidProject(author, project ?? '');
  return unsaid === null ? null : (
    <>
      · <Plain text={unsaid} />{' '}
    </>
  );
}

export function MessagesScreen({ inbox }: { inbox: State }): VNode {
  // With its author: the message itself may not be read yet, or may no longer be among the newest.
  const [replying, setReplying] = useDraft('reply to');
  const [body, setBody] = useDraft('message');
  const [, message_id = '', handle = ''] = /^(\S+) (.+)$/s.exec(replying) ?? [];
  const replyTo = message_id === '' ? null : { message_id, handle };
  const mentions = new Map(inbox.mentions.map((mention) => [mention.message_id, mention]));
  const count = inbox.messages.length;
  const projects = new Set(inbox.messages.flatMap(({ project }) => project ?? []));
  useNewest(inbox.messages.at(-1)?.message_id);
  return (
    <>
      <h1 tabIndex={-1}>{WORDS.messages}</h1>
      {count === 0 ? <Empty inbox={inbox} text={WORDS.noMessages} /> : null}
      {inbox.areEarlier ? (
        <p class="note" role="note">
          {WORDS.areEarlier}
        </p>
      ) : null}
      <div role="log">
        <ol class="messages">
          {inbox.messages.map((message) => (
            <li key={message.message_id} class={message.author === 'human' ? 'message human' : 'message'}>
              <Boundary>
                <MessageItem
                  message={message}
                  author={authorOf(message, message.session_id, inbox)}
                  project={projects.size > 1 ? message.project : null}
                />
              </Boundary>
              <p class="actions">
                <button
                  type="button"
                  onClick={() => setReplying(`${message.message_id} ${message.by ?? message.from_handle}`)}
                >
                  {WORDS.reply}
                </button>
                <Done mention={mentions.get(message.message_id)} />
              </p>
            </li>
          ))}
        </ol>
      </div>
      <Compose
        replyTo={replyTo}
        onClose={() => setReplying('')}
        inbox={inbox}
        body={body}
        setBody={setBody}
      />
    </>
  );
}

/** In pixels. */
const NEAR_END = 100;

/** Begins at the end of the page, and stays there while messages arrive, unless the reader has scrolled up. */
function useNewest(message_id: string | undefined): void {
  const last = useRef<string | null | undefined>(null);
  const isNew = message_id !== last.current;
  const page = document.documentElement;
  // Measured before new messages are drawn. Another screen may be shown before the first one.
  const isFollowing =
    isNew && (last.current === null || scrollY + page.clientHeight > page.scrollHeight - NEAR_END);
  useEffect(() => {
    last.current = message_id;
    if (isFollowing) scrollTo(0, page.scrollHeight);
  }, [message_id]);
}

function MessageItem({
  message,
  author,
  project,
}: {
  message: Message;
  author: string;
  project: string | null;
}): VNode {
  return (
    <>
      <p class="meta">
        <strong>
          <Plain text={author} />
        </strong>{' '}
        <Project author={author} project={project} />· {ago(message.at)}
      </p>
      <Markdown text={message.body} />
    </>
  );
}

export function Done({ mention }: { mention: MentionShown | undefined }): VNode | null {
  const [problem, setProblem] = useState<string | null>(null);
  if (mention === undefined) return null;
  const { mention_id } = mention;
  return (
    <>
      <button
        type="button"
        onClick={() =>
          void ask('mention/process', { mention_ids: [mention_id] }).catch((error: Error) =>
            setProblem(error.message),
          )
        }
      >
        {WORDS.markDone}
      </button>
      <span role="alert" class="problem">
        {problem}
      </span>
    </>
  );
}

function Compose({
  replyTo,
  onClose,
  inbox,
  body,
  setBody,
}: {
  replyTo: { message_id: string; handle: string } | null;
  onClose: () => void;
  inbox: State;
  body: string;
  setBody: (body: string) => void;
}): VNode {
  const [problem, setProblem] = useState<string | null>(null);
  const waiting = inbox.outbox.filter(({ queued }) => queued.kind === 'message');
  async function post(event: Event): Promise<void> {
    event.preventDefault();
    try {
      await queue({
        kind: 'message',
        body,
        reply_to: replyTo?.message_id ?? null,
        message_id: randomId('msg'),
      });
    } catch (error) {
      setProblem(error instanceof Error ? error.message : String(error));
      return;
    }
    setProblem(null);
    setBody('');
    onClose();
    await flush();
  }
  return (
    <form class="compose" onSubmit={(event) => void post(event)}>
      {waiting.map((entry) => (
        <div key={entry.number}>
          <p class="meta">
            {messageFate(entry.fate)}:{' '}
            <Plain text={entry.queued.kind === 'message' ? entry.queued.body : ''} />
          </p>
          {entry.fate.state === 'done' ? (
            <p role="alert" class="problem">
              <Plain text={entry.fate.reply.missed ?? ''} />
            </p>
          ) : null}
          {entry.fate.state === 'stuck' ? <Stuck entry={entry} /> : null}
          {entry.fate.state === 'refused' || entry.fate.state === 'done' ? (
            <button type="button" onClick={() => void dismissEntry(entry)}>
              {WORDS.dismiss}
            </button>
          ) : null}
        </div>
      ))}
      {replyTo === null ? null : (
        <p class="meta">
          {WORDS.replyTo(replyTo.handle)}{' '}
          <button type="button" onClick={onClose}>
            {WORDS.cancel}
          </button>
        </p>
      )}
      <label>
        {replyTo === null ? WORDS.write : WORDS.writeReply}
        <textarea rows={2} dir="auto" value={body} onInput={(event) => setBody(event.currentTarget.value)} />
      </label>
      <p role="alert" class="problem">
        {problem}
      </p>
      <button type="submit" class="primary" disabled={body.trim() === ''}>
        {WORDS.send}
      </button>
    </form>
  );
}

function messageFate(fate: Fate): string {
  if (fate.state === 'refused') return WORDS.refused(fate.message);
  return fate.state === 'done' ? WORDS.postedShort : WORDS.queuedShort;
}

// ---- Cards and reports ----

export function ReportsScreen({ inbox }: { inbox: State }): VNode {
  // A person at this screen no longer needs the notifications.
  useEffect(() => {
    const looked = (): void => {
      if (!document.hidden) closeOutreach().catch(() => undefined);
    };
    looked();
    document.addEventListener('visibilitychange', looked);
    return () => document.removeEventListener('visibilitychange', looked);
  }, [inbox.outreach]);
  return (
    <>
      <h1 tabIndex={-1}>{WORDS.reports}</h1>
      {inbox.outreach.length === 0 ? <Empty inbox={inbox} text={WORDS.noReports} /> : null}
      <ul class="rows">
        {inbox.outreach.map((item) => (
          <li key={item.outreach_id} class={`row card-${item.color ?? 'none'}`}>
            <Boundary>
              <OutreachItem item={item} />
            </Boundary>
          </li>
        ))}
      </ul>
    </>
  );
}

function OutreachItem({ item }: { item: Outreach }): VNode {
  const { kind, title, message, description, fields, ask_id, created_at } = item;
  return (
    <article>
      <p class="meta">
        {kind} · <Plain text={headedBy(item)} /> · {ago(created_at)}
      </p>
      {title === null ? null : <h2 dir="auto">{revealed(title)}</h2>}
      {message === null ? null : <Markdown text={message} />}
      {description === null ? null : <Markdown text={description} />}
      {fields.length === 0 ? null : (
        <dl>
          {fields.map(({ name, value }) => (
            <div key={name}>
              <dt>
                <Plain text={name} />
              </dt>
              <dd>
                <Plain text={value} />
              </dd>
            </div>
          ))}
        </dl>
      )}
      {ask_id === null ? null : <a href={`#/ask/${ask_id}`}>{WORDS.answer}</a>}
    </article>
  );
}

// ---- History ----

export function HistoryScreen(): VNode {
  const [query, setQuery] = useState('');
  const [found, setFound] = useState<{ entries: HistoryEntry[]; next_cursor: string | null } | null>(null);
  const [problem, setProblem] = useState<string | null>(null);

  async function search(cursor: string | null): Promise<void> {
    try {
      setProblem(null);
      const params = { query: query.trim() === '' ? null : query, limit: 50, cursor };
      const page = await ask<{ entries: HistoryEntry[]; next_cursor: string | null }>(
        'history/search',
        params,
      );
      const before = cursor === null ? [] : (found?.entries ?? []);
      setFound({ ...page, entries: [...before, ...page.entries] });
    } catch (error) {
      setProblem(error instanceof Error ? error.message : String(error));
    }
  }

  return (
    <>
      <h1 tabIndex={-1}>{WORDS.history}</h1>
      <search>
        <form
          onSubmit={(event) => {
            event.preventDefault();
            void search(null);
          }}
        >
          <label>
            {WORDS.search}
            <input
              type="search"
              value={query}
              dir="auto"
              onInput={(event) => setQuery(event.currentTarget.value)}
            />
          </label>
          <button type="submit" class="primary">
            {WORDS.searchNow}
          </button>
        </form>
      </search>
      <p role="alert" class="problem">
        {problem}
      </p>
      <div role="status">{found?.entries.length === 0 ? <p class="empty">{WORDS.noResults}</p> : null}</div>
      <ul class="rows">
        {found?.entries.map((entry) => (
          <li key={entry.id} class="row">
            <Boundary>
              <Entry entry={entry} />
            </Boundary>
          </li>
        ))}
      </ul>
      {found?.next_cursor == null ? null : (
        <button type="button" onClick={() => void search(found.next_cursor)}>
          {WORDS.more}
        </button>
      )}
    </>
  );
}

function Entry({ entry }: { entry: HistoryEntry }): VNode {
  const { kind, id, at, text, status, decision, by } = entry;
  const agent_title = (kind === 'message' ? by : null) ?? entry.agent_title;
  const said = <Plain class="row-title" text={text} />;
  return (
    <>
      {kind === 'prompt' ? <a href={`#/ask/${id}`}>{said}</a> : said}
      {decision === null ? null : (
        <span class="row-text" dir="auto">
          <Plain text={WORDS.answered(by ?? '', decision)} />
        </span>
      )}
      <span class="meta">
        <Plain text={headedBy({ ...entry, agent_title, project: entry.project ?? '' })} /> ·{' '}
        {status ?? WORDS.message} · {ago(at)}
      </span>
    </>
  );
}
