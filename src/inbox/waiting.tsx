/** What waits, in the order of Emacs: whose agent is blocked comes first, then the urgent, then what expires soonest. */
import type { VNode } from 'preact';
import type { ListedPrompt, State } from './model.ts';
import { Notifications } from './notifications.tsx';
import { storeTime } from './server.ts';
import { Plain } from './text.tsx';
import { duration, WORDS } from './words.ts';

export interface Waiting {
  /** For this human, and not snoozed. */
  mine: ListedPrompt[];
  others: ListedPrompt[];
  snoozed: ListedPrompt[];
}

/** The pending prompts in three lists, each in order. */
export function sortWaiting(prompts: Iterable<ListedPrompt>, now: string): Waiting {
  const lists: Waiting = { mine: [], others: [], snoozed: [] };
  const inOrder = [...prompts].sort((a, b) => (a.order_key < b.order_key ? -1 : 1));
  for (const prompt of inOrder) {
    if (prompt.snoozed_until !== null && prompt.snoozed_until > now) lists.snoozed.push(prompt);
    else (prompt.mine ? lists.mine : lists.others).push(prompt);
  }
  return lists;
}

export function WaitingScreen({ inbox }: { inbox: State }): VNode {
  if (inbox.prompts === null) return <p role="status">{WORDS.loading}</p>;
  const { mine, others, snoozed } = sortWaiting(inbox.prompts.values(), storeTime());
  const queued = new Set(
    inbox.outbox.flatMap(({ queued: one, fate }) =>
      one.kind === 'answer' && fate.state === 'queued' ? [one.ask_id] : [],
    ),
  );
  return (
    <>
      <h1 tabIndex={-1}>{WORDS.waiting}</h1>
      {mine.length === 0 ? (
        <p class="empty" data-test="nothing">
          {WORDS.nothingWaits}
        </p>
      ) : (
        <Rows prompts={mine} queued={queued} />
      )}
      <More title={WORDS.forOthers(others.length)} prompts={others} queued={queued} />
      <More title={WORDS.snoozed(snoozed.length)} prompts={snoozed} queued={queued} />
      <Notifications inbox={inbox} />
    </>
  );
}

interface RowsProps {
  prompts: readonly ListedPrompt[];
  /** Those that this device has answered, while the server does not know it. */
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
      {prompts.map((prompt) => {
        const { ask_id, agent, project, question, header, urgency, kind, blocked_since, created_at, to } =
          prompt;
        return (
          <li key={ask_id}>
            <a href={`#/ask/${ask_id}`} class={`row ${urgency}`}>
              <span class="row-title" dir="auto">
                <Plain text={header ?? question} />
              </span>
              {header === null ? null : (
                <span class="row-text" dir="auto">
                  <Plain text={question} />
                </span>
              )}
              <span class="meta">
                <Plain text={agent} /> · <Plain text={project} /> · {duration(now - Date.parse(created_at))}
                {kind === 'permission' ? <span class="badge">{WORDS.permission}</span> : null}
                {urgency === 'critical' ? <span class="badge critical">{WORDS.critical}</span> : null}
                {blocked_since !== null ? <span class="badge blocked">{WORDS.blocked}</span> : null}
                {to === null ? null : <span class="badge">{WORDS.for(to)}</span>}
                {queued.has(ask_id) ? <span class="badge queued">{WORDS.queuedShort}</span> : null}
              </span>
            </a>
          </li>
        );
      })}
    </ul>
  );
}
