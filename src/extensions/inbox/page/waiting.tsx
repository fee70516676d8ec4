/** The screen of what needs the human: pending questions, stopped loops, mentions; and the outcomes of their answers. */

import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import type { LoopDecision } from '../../../domain/loops.ts';
import { UNVERIFIED_HANDLE } from '../../../domain/sessions.ts';
import { headedBy } from '../../../domain/sources.ts';
import { useDraft } from './drafts.ts';
import { ask, type LoopShown, type MentionShown, readLoops, type State } from './model.ts';
import { Notifications } from './notifications.tsx';
import { type ListedPrompt, queuedAnswers, sortWaiting, unread } from './order.ts';
import { authorOf, Done, Project } from './screens.tsx';
import { storeTime } from './server.ts';
import type { Fate, OutboxEntry } from './storage.ts';
import { Boundary, Empty, Markdown, Plain } from './text.tsx';
import { duration, WORDS } from './words.ts';

/** The screen on which messages are written. */
const MESSAGES = '#/messages';

export function WaitingScreen({ inbox }: { inbox: State }): VNode {
  const { mine, others, snoozed, ended } = sortWaiting(inbox.prompts?.values() ?? [], storeTime());
  const queued = queuedAnswers(inbox.outbox);
  return (
    <>
      <h1 tabIndex={-1}>{WORDS.waiting}</h1>
      <Answers entries={unread(inbox.outbox, inbox.prompts !== null)} />
      {mine.length + inbox.loops.length + inbox.mentions.length === 0 ? (
        <Empty inbox={inbox} text={WORDS.nothingWaits} />
      ) : null}
      {mine.length === 0 ? null : <Rows prompts={mine} queued={queued} />}
      {inbox.more === 0 ? null : (
        <p class="note" role="note">
          {WORDS.notRead(inbox.more)}
        </p>
      )}
      <Loops loops={inbox.loops} />
      <Mentions inbox={inbox} />
      <More title={WORDS.forOthers(others.length)} prompts={others} queued={queued} />
      <More title={WORDS.snoozed(snoozed.length)} prompts={snoozed} queued={queued} />
      <More title={`${WORDS.sections.ended} (${ended.length})`} prompts={ended} queued={queued} />
      <Muted loops={inbox.muted} />
      <Notifications inbox={inbox} />
    </>
  );
}

/** Answers of this device about which their human must know something. */
function Answers({ entries }: { entries: readonly OutboxEntry[] }): VNode | null {
  if (entries.length === 0) return null;
  return (
    <section aria-label={WORDS.yourAnswers}>
      <h2>{WORDS.yourAnswers}</h2>
      <ul class="rows">
        {entries.map(({ number, queued, fate }) =>
          queued.kind === 'answer' ? (
            <li key={number}>
              <a href={`#/ask/${queued.ask_id}`} class="row">
                <Plain class="row-title" text={queued.question} />
                <Plain class="row-text" text={queued.decision} />
                <span class="meta">
                  <span class="badge blocked">{shortFate(fate)}</span>
                </span>
              </a>
            </li>
          ) : null,
        )}
      </ul>
    </section>
  );
}

function shortFate(fate: Fate): string {
  if (fate.state === 'queued') return WORDS.queuedShort;
  if (fate.state === 'delayed') return WORDS.delayedShort;
  if (fate.state === 'stuck') return WORDS.stuckShort;
  if (fate.state === 'refused') return WORDS.refusedShort;
  return fate.state === 'done' && fate.reply.late === true ? WORDS.lateShort : WORDS.lostShort;
}

/** The pairs of agents that are stopped. */
function Loops({ loops }: { loops: readonly LoopShown[] }): VNode | null {
  if (loops.length === 0) return null;
  return (
    <section aria-label={WORDS.loops}>
      <Pairs loops={loops} />
    </section>
  );
}

/** The pairs that the human has muted, folded. */
function Muted({ loops }: { loops: readonly LoopShown[] }): VNode | null {
  if (loops.length === 0) return null;
  return (
    <details class="more">
      <summary>{WORDS.mutedPairs(loops.length)}</summary>
      <Pairs loops={loops} />
    </details>
  );
}

/** Pairs of agents, with what the human can do about each. */
function Pairs({ loops }: { loops: readonly LoopShown[] }): VNode {
  const [body, setBody] = useDraft('message');
  const [, setReplying] = useDraft('reply to');
  const [problem, setProblem] = useState<string | null>(null);

  async function decide(state: LoopDecision, loop: LoopShown): Promise<void> {
    try {
      await ask('mention/settle_loop', { sessions: [loop.first_session_id, loop.second_session_id], state });
      setProblem(null);
      await readLoops();
    } catch (error) {
      setProblem(error instanceof Error ? error.message : String(error));
    }
  }

  function writeTo(handles: readonly string[]): void {
    const names = handles.filter((handle) => handle !== UNVERIFIED_HANDLE).map((handle) => `@${handle} `);
    setBody(`${names.join('')}${body}`);
    // A reply that was begun is to somebody else, and would mark their mention done.
    setReplying('');
    location.hash = MESSAGES;
  }

  return (
    <>
      <ul class="rows">
        {loops.map((loop) => (
          <li key={`${loop.first_session_id} ${loop.second_session_id}`} class="row">
            <Boundary>
              <Plain
                text={(loop.state === 'muted' ? WORDS.mutedPair : WORDS.loop)(loop.titles, loop.reason)}
              />
              <p class="actions">
                <button type="button" onClick={() => void decide('allowed', loop)}>
                  {WORDS.letContinue}
                </button>
                {loop.state === 'muted' ? null : (
                  <button type="button" onClick={() => void decide('muted', loop)}>
                    {WORDS.mutePair}
                  </button>
                )}
                <button type="button" onClick={() => writeTo(loop.handles)}>
                  {WORDS.writeToThem}
                </button>
              </p>
            </Boundary>
          </li>
        ))}
      </ul>
      <p role="alert" class="problem">
        {problem}
      </p>
    </>
  );
}

/** The human's open mentions, newest first. */
function Mentions({ inbox }: { inbox: State }): VNode | null {
  const [, setReplying] = useDraft('reply to');
  if (inbox.mentions.length === 0) return null;
  return (
    <section aria-label={WORDS.mentions}>
      <ul class="rows">
        {inbox.mentions.map((mention) => (
          <li key={mention.mention_id} class="row">
            <Boundary>
              <MentionItem mention={mention} author={authorOf(mention, mention.from_session_id, inbox)} />
            </Boundary>
            <p class="actions">
              <button
                type="button"
                onClick={() => {
                  setReplying(`${mention.message_id} ${mention.by ?? mention.from_handle}`);
                  location.hash = MESSAGES;
                }}
              >
                {WORDS.reply}
              </button>
              <Done mention={mention} />
            </p>
          </li>
        ))}
      </ul>
    </section>
  );
}

function MentionItem({ mention, author }: { mention: MentionShown; author: string }): VNode {
  const { project, created_at, body } = mention;
  return (
    <>
      <p class="meta">
        <strong>
          <Plain text={author} />
        </strong>{' '}
        {WORDS.mentionsYou} <Project author={author} project={project} />·{' '}
        {duration(Date.parse(storeTime()) - Date.parse(created_at))}
      </p>
      <Markdown text={body} />
    </>
  );
}

interface RowsProps {
  prompts: readonly ListedPrompt[];
  /** The questions that this device has answered and the server has not acknowledged yet. */
  queued: ReadonlySet<string>;
}

function More({ title, prompts, queued }: RowsProps & { title: string }): VNode | null {
  if (prompts.length === 0) return null;
  return (
    <details class="more">
      <summary>{title}</summary>
      <Rows prompts={prompts} queued={queued} />
    </details>
  );
}

function Rows({ prompts, queued }: RowsProps): VNode {
  const now = Date.parse(storeTime());
  return (
    <ul class="rows">
      {prompts.map((prompt) => (
        <li key={prompt.ask_id}>
          <Boundary>
            <Row prompt={prompt} now={now} isQueued={queued.has(prompt.ask_id)} />
          </Boundary>
        </li>
      ))}
    </ul>
  );
}

function Row({ prompt, now, isQueued }: { prompt: ListedPrompt; now: number; isQueued: boolean }): VNode {
  const { ask_id, question, header, urgency, kind, blocked_since, created_at, to } = prompt;
  return (
    <a href={`#/ask/${ask_id}`} class={`row ${urgency}`}>
      <Plain class="row-title" text={header ?? question} />
      {header === null ? null : <Plain class="row-text" text={question} />}
      <span class="meta">
        <Plain text={headedBy(prompt)} /> · {duration(now - Date.parse(created_at))}
        {kind === 'permission' ? <span class="badge">{WORDS.permission}</span> : null}
        {urgency === 'critical' ? <span class="badge critical">{WORDS.critical}</span> : null}
        {blocked_since !== null ? <span class="badge blocked">{WORDS.blocked}</span> : null}
        {to === null ? null : <span class="badge">{WORDS.for(to)}</span>}
        {isQueued ? <span class="badge queued">{WORDS.queuedShort}</span> : null}
      </span>
    </a>
  );
}
