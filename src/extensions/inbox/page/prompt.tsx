/** One question in full, and its answer. */
import type { VNode } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { revealed, revealedSource } from '../../../domain/display.ts';
import { displayedText, mayAllow } from '../../../domain/permissions.ts';
import type { Prompt } from '../../../domain/prompts.ts';
import { headedBy } from '../../../domain/sources.ts';
import { answerOf, barOf, type Given } from './answering.ts';
import { useDraft } from './drafts.ts';
import { hex, randomId, sha256 } from './keys.ts';
import { ask, dismissEntry, FIRST_RETRY_MS, flush, longer, readWelcome, type State } from './model.ts';
import { queuedAnswers, sortWaiting } from './order.ts';
import { queue, renew, retry } from './outbox.ts';
import { type Reading, useReading } from './reading.ts';
import { Refused, storeTime, Unreachable } from './server.ts';
import type { OutboxEntry, QueuedAnswer } from './storage.ts';
import { Boundary, Markdown, notRead, Plain, Source } from './text.tsx';
import { duration, WORDS } from './words.ts';

type ShownPrompt = Prompt & { mine: boolean };

export function PromptScreen({ ask_id, inbox }: { ask_id: string; inbox: State }): VNode {
  const [prompt, setPrompt] = useState<ShownPrompt | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const known = inbox.prompts?.get(ask_id);
  const changes = inbox.changes.get(ask_id);
  const isLookedAt = useLookedAt();

  useEffect(() => {
    let stale = false;
    let retrying: ReturnType<typeof setTimeout> | undefined;
    async function read(pause_ms = FIRST_RETRY_MS): Promise<void> {
      try {
        const found = await ask<{ prompt: ShownPrompt }>('prompt/get', { ask_id });
        if (stale) return;
        setPrompt(found.prompt);
        setProblem(null);
        // Nobody sees a page in the background.
        if (found.prompt.seen_at === null && isLookedAt) await ask('prompt/seen', { ask_id });
        // Its human may have allowed this device to give permissions since.
        if (found.prompt.kind === 'permission' && inbox.welcome?.may_allow === false) await readWelcome();
      } catch (error) {
        if (stale) return;
        // The page says above every screen that it is not admitted.
        if (error instanceof Refused && !error.atDoor) setProblem(error.message);
        // The stream may work while a call fails, and then nothing else would read the prompt again.
        if (error instanceof Unreachable) retrying = setTimeout(() => void read(longer(pause_ms)), pause_ms);
      }
    }
    void read();
    return () => {
      stale = true;
      clearTimeout(retrying);
    };
  }, [ask_id, changes, inbox.reads, isLookedAt]);

  const entry = inbox.outbox.findLast(({ queued }) => queued.kind === 'answer' && queued.ask_id === ask_id);
  // The prompt from the list is enough to answer a question without a connection, unless the list has only a part of it.
  const shown = prompt ?? (known !== undefined && known.context_truncated !== true ? known : null);
  return (
    <article>
      <p role="alert" class="problem">
        {problem}
      </p>
      {shown === null ? (
        <h1 tabIndex={-1}>{(problem === null && notRead(inbox)) || WORDS.question}</h1>
      ) : (
        <Boundary>
          <Question prompt={shown} entry={entry} inbox={inbox} isWhole={prompt !== null} />
        </Boundary>
      )}
    </article>
  );
}

interface QuestionProps {
  prompt: ShownPrompt;
  entry: OutboxEntry | undefined;
  inbox: State;
  /** True for the complete prompt from the server, false for the one from the list. */
  isWhole: boolean;
}

function Question({ prompt, entry, inbox, isWhole }: QuestionProps): VNode {
  const { question, context, kind, notes, urgency } = prompt;
  const delayed = entry?.fate.state === 'delayed' && prompt.status !== 'responded' ? entry.queued : undefined;
  // The permission of a delayed answer was read long ago, so it has to be read again.
  const toRead = [displayedText(prompt), delayed?.kind === 'answer' ? delayed.responded_at : null];
  const reading = useReading(JSON.stringify(toRead));
  const mayAllowHere = inbox.welcome?.may_allow === true;
  const isPermission = kind === 'permission';
  return (
    <>
      <header ref={reading.beginning}>
        <p class="meta">
          <Plain text={headedBy(prompt)} />
          {isPermission ? <span class="badge">{WORDS.permission}</span> : null}
          {urgency === 'critical' ? <span class="badge critical">{WORDS.critical}</span> : null}
        </p>
        {isPermission ? (
          <h1 class="command" dir="ltr" tabIndex={-1}>
            {revealedSource(question)}
          </h1>
        ) : (
          <h1 dir="auto" tabIndex={-1}>
            {revealed(question)}
          </h1>
        )}
      </header>
      <Times prompt={prompt} />
      {notes.length > 0 ? (
        <section aria-label={WORDS.addedByAgent}>
          {notes.map(({ text, at }) => (
            <p class="note" key={at}>
              <strong>{WORDS.addedByAgent}: </strong>
              {isPermission ? <Source text={text} /> : <Plain text={text} />}
            </p>
          ))}
        </section>
      ) : null}
      {context === null ? null : (
        <section aria-label={WORDS.context}>
          {isPermission ? <Source text={context} /> : <Markdown text={context} />}
        </section>
      )}
      <LastWords prompt={prompt} inbox={inbox} />
      <Outcome prompt={prompt} entry={entry} isUnknown={inbox.unknown} />
      {entry === undefined && prompt.status === 'pending' ? null : (
        <Next inbox={inbox} ask_id={prompt.ask_id} />
      )}
      {entry !== undefined && delayed?.kind === 'answer' ? (
        <DelayedAnswer
          entry={entry}
          answer={delayed}
          prompt={prompt}
          mayAllowHere={mayAllowHere}
          reading={reading}
          isWhole={isWhole}
        />
      ) : (
        <AnswerForm
          key={prompt.ask_id}
          prompt={prompt}
          isQueued={entry !== undefined && entry.fate.state !== 'refused'}
          mayAllowHere={mayAllowHere}
          reading={reading}
          isWhole={isWhole}
        />
      )}
    </>
  );
}

/** The reason for the question: what its agent said last, folded. An answer allows nothing that is in it. */
function LastWords({ prompt, inbox }: Pick<QuestionProps, 'prompt' | 'inbox'>): VNode | null {
  const asker = inbox.sessions.find(({ session_id }) => session_id === prompt.session_id);
  const said = prompt.status === 'pending' ? asker?.turn?.last_words : undefined;
  if (said === undefined) return null;
  return (
    <details class="said">
      <summary>{WORDS.lastWords}</summary>
      <Markdown text={said} />
    </details>
  );
}

/** Whether this page is in front. */
function useLookedAt(): boolean {
  const [isLookedAt, setLookedAt] = useState(!document.hidden);
  useEffect(() => {
    const changed = (): void => setLookedAt(!document.hidden);
    document.addEventListener('visibilitychange', changed);
    return () => document.removeEventListener('visibilitychange', changed);
  }, []);
  return isLookedAt;
}

function Times({ prompt }: { prompt: Prompt }): VNode {
  const now = Date.parse(storeTime());
  const { created_at, expires_at, blocked_since, status } = prompt;
  const isPending = status === 'pending';
  return (
    <p class="meta">
      {WORDS.askedAgo(duration(now - Date.parse(created_at)))}
      {isPending && blocked_since !== null
        ? ` · ${WORDS.blockedFor(duration(now - Date.parse(blocked_since)))}`
        : ''}
      {isPending && expires_at !== null ? ` · ${WORDS.expires(duration(Date.parse(expires_at) - now))}` : ''}
    </p>
  );
}

interface OutcomeProps {
  prompt: Prompt;
  entry: OutboxEntry | undefined;
  /** The server no longer knows this device. */
  isUnknown: boolean;
}

/** The state of the question, and of this device's answer. */
function Outcome({ prompt, entry, isUnknown }: OutcomeProps): VNode {
  return (
    <div role="status" class="outcome">
      {entry === undefined ? (
        <Settled prompt={prompt} />
      ) : (
        <Fate entry={entry} prompt={prompt} isUnknown={isUnknown} />
      )}
    </div>
  );
}

/** After an answer: the next question, or the list. */
function Next({ inbox, ask_id }: { inbox: State; ask_id: string }): VNode {
  const answered = queuedAnswers(inbox.outbox);
  const next = sortWaiting(inbox.prompts?.values() ?? [], storeTime()).mine.find(
    (prompt) => prompt.ask_id !== ask_id && !answered.has(prompt.ask_id),
  );
  return (
    <a class="button" href={next === undefined ? '#/' : `#/ask/${next.ask_id}`}>
      {next === undefined ? WORDS.backToList : WORDS.next}
    </a>
  );
}

function Settled({ prompt }: { prompt: Prompt }): VNode | null {
  const text = settledText(prompt);
  return text === null ? null : (
    <p>
      <Plain text={text} />
    </p>
  );
}

function settledText({ status, by, decision }: Prompt): string | null {
  if (status === 'responded') return WORDS.answered(by ?? '', decision ?? '');
  if (status === 'expired') return WORDS.expired;
  return status === 'cancelled' ? WORDS.cancelled : null;
}

/** The outcome of an answer that this device gave. */
function Fate({ entry, prompt, isUnknown }: OutcomeProps & { entry: OutboxEntry }): VNode {
  const { fate, queued } = entry;
  const answer = queued.kind === 'answer' ? queued.decision : '';
  const close = (): void => void dismissEntry(entry);
  switch (fate.state) {
    case 'queued':
      return (
        <p class="queued">
          <Plain text={(isUnknown ? WORDS.queuedUnknown : WORDS.queued)(answer)} />
        </p>
      );
    case 'delayed':
      return prompt.status === 'responded' ? (
        <div class="late">
          <Settled prompt={prompt} />
          <button type="button" onClick={close}>
            {WORDS.dismiss}
          </button>
        </div>
      ) : (
        <p class="delayed">{WORDS.delayed}</p>
      );
    case 'stuck':
      return <Stuck entry={entry} />;
    case 'refused':
      return (
        <div class="problem">
          <p>{WORDS.refused(fate.message)}</p>
          <button type="button" onClick={close}>
            {WORDS.dismiss}
          </button>
        </div>
      );
    default: {
      const { accepted, late, by, decision } = fate.reply;
      const text =
        accepted === true
          ? `${WORDS.sent} ${WORDS.yourAnswer(answer)}`
          : late === true
            ? WORDS.late
            : WORDS.lost(by ?? '', decision ?? '');
      return (
        <div class={accepted === true ? 'sent' : 'late'}>
          <p>
            <Plain text={text} />
          </p>
          <button type="button" onClick={close}>
            {WORDS.dismiss}
          </button>
        </div>
      );
    }
  }
}

/** Answers on which the server failed again and again. Only their human can discard them. */
export function Stuck({ entry }: { entry: OutboxEntry }): VNode {
  const why = entry.fate.state === 'stuck' ? entry.fate.message : '';
  return (
    <div class="problem">
      <p>{WORDS.stuck(why)}</p>
      <button type="button" class="primary" onClick={() => void retry(entry).then(flush)}>
        {WORDS.tryAgain}
      </button>
      <button type="button" onClick={() => void dismissEntry(entry)}>
        {WORDS.discard}
      </button>
    </div>
  );
}

interface ReadProps {
  prompt: ShownPrompt;
  mayAllowHere: boolean;
  reading: Reading;
  isWhole: boolean;
}

function OptionText({ option: { label, description } }: { option: Prompt['options'][number] }): VNode {
  return (
    <>
      <Plain text={label} />
      {description === null ? null : (
        <small>
          <Plain text={description} />
        </small>
      )}
    </>
  );
}

/** A delayed answer that allows something: it can be given once more after everything has been on the screen again. */
function DelayedAnswer({
  prompt,
  entry,
  answer: { selected, decision, comment },
  mayAllowHere,
  reading: { isRead, isZoomed, end },
  isWhole,
}: ReadProps & { entry: OutboxEntry; answer: QueuedAnswer }): VNode {
  const why = barOf(prompt, selected, { mayAllowHere, isRead: isRead && isWhole, isZoomed });
  return (
    <section class="answer" aria-label={WORDS.answer}>
      <div class="options">
        {prompt.options.map((option) => (
          <button
            type="button"
            key={option.label}
            class="option"
            aria-pressed={selected.includes(option.label)}
            disabled
          >
            <OptionText option={option} />
          </button>
        ))}
      </div>
      <p dir="auto">
        <Plain text={WORDS.yourAnswer(comment === null ? decision : `${decision} (${comment})`)} />
      </p>
      <div ref={end} class="end" />
      {why === null ? null : <p class="barred">{why}</p>}
      <button
        type="button"
        class="primary"
        disabled={why !== null}
        onClick={() => void renew(entry).then(flush)}
      >
        {WORDS.answerNow}
      </button>
      <button type="button" onClick={() => void dismissEntry(entry)}>
        {WORDS.dismiss}
      </button>
    </section>
  );
}

function AnswerForm({
  prompt,
  isQueued,
  mayAllowHere,
  reading,
  isWhole,
}: ReadProps & { isQueued: boolean }): VNode | null {
  const { ask_id, options, multi_select, allow_free_text, kind, status } = prompt;
  const [chosen, setChosen] = useState<readonly string[]>([]);
  const [words, setWords] = useDraft(`words ${ask_id}`);
  const [comment, setComment] = useDraft(`comment ${ask_id}`);
  const [problem, setProblem] = useState<string | null>(null);
  const [busy, setBusy] = useState(false);

  if (isQueued || status === 'responded' || prompt.late_response !== null) return null;

  async function give(given: Omit<Given, 'comment'>): Promise<void> {
    setBusy(true);
    setProblem(null);
    // The typed text goes with the tapped option, whichever field it is in.
    const typed = given.decision === undefined ? [comment, words] : [comment];
    const said = typed.filter((text) => text.trim() !== '').join('\n\n');
    try {
      await giveAnswer(prompt, { ...given, comment: said === '' ? null : said }, barred);
      setWords('');
      setComment('');
    } catch (error) {
      setProblem(error instanceof Error ? error.message : String(error));
    } finally {
      setBusy(false);
    }
  }

  /** Why an answer cannot be given here and now, as a sentence. */
  const { isRead, isZoomed } = reading;
  const barred = (selected: readonly string[]): string | null =>
    barOf(prompt, selected, { mayAllowHere, isRead: isRead && isWhole, isZoomed });
  // The text that has to be read ends below the options, because they are part of it.
  const bars = [...new Set(options.map(({ label }) => barred([label])).filter((why) => why !== null))];
  const freeBar = allow_free_text ? barred([]) : null;

  return (
    <section class="answer" aria-label={WORDS.answer}>
      {multi_select ? <p>{WORDS.chooseSeveral}</p> : null}
      <div class="options">
        {options.map((option) => {
          const { label } = option;
          return (
            <button
              type="button"
              key={label}
              class={
                kind === 'permission' && !mayAllow(prompt, { selected: [label] })
                  ? 'option refuses'
                  : 'option'
              }
              aria-pressed={multi_select ? chosen.includes(label) : undefined}
              disabled={busy || barred([label]) !== null}
              onClick={() => {
                if (!multi_select) return void give({ selected: [label] });
                setChosen(
                  chosen.includes(label) ? chosen.filter((one) => one !== label) : [...chosen, label],
                );
              }}
            >
              <OptionText option={option} />
            </button>
          );
        })}
      </div>
      {multi_select && options.length > 0 ? (
        <button
          type="button"
          class="primary"
          disabled={busy || chosen.length === 0 || barred(chosen) !== null}
          onClick={() => void give({ selected: chosen })}
        >
          {WORDS.send}
        </button>
      ) : null}
      <div ref={reading.end} class="end" />
      {bars.map((why) => (
        <p class="barred" key={why}>
          {why}
        </p>
      ))}
      <label>
        {WORDS.comment}
        <textarea
          rows={1}
          dir="auto"
          value={comment}
          onInput={(event) => setComment(event.currentTarget.value)}
        />
      </label>
      {allow_free_text ? (
        <form
          onSubmit={(event) => {
            event.preventDefault();
            void give(chosen.length > 0 ? { selected: chosen } : { decision: words });
          }}
        >
          <label>
            {WORDS.ownWords}
            <textarea
              rows={3}
              dir="auto"
              value={words}
              onInput={(event) => setWords(event.currentTarget.value)}
            />
          </label>
          <button type="submit" class="primary" disabled={busy || words.trim() === '' || freeBar !== null}>
            {WORDS.send}
          </button>
        </form>
      ) : null}
      <p role="alert" class="problem">
        {problem}
      </p>
      {status === 'pending' ? <Snooze prompt={prompt} /> : null}
    </section>
  );
}

/** Queues an answer; it is on this device once this has resolved. @throws HiveError for an answer that no server would accept. */
async function giveAnswer(
  prompt: ShownPrompt,
  given: Given,
  barred: (selected: readonly string[]) => string | null,
): Promise<void> {
  const displayed_digest = hex(await sha256(displayedText(prompt)));
  const stamp = { response_id: randomId('response'), responded_at: storeTime(), displayed_digest };
  const answer = answerOf(prompt, given, stamp);
  // Typing the label of an option is the same as tapping it.
  const why = barred(answer.selected);
  if (why !== null) throw new Error(why);
  await queue(answer);
  await flush();
}

const HOUR_MS = 60 * 60_000;

function Snooze({ prompt: { ask_id, snoozed_until } }: { prompt: Prompt }): VNode {
  const [problem, setProblem] = useState<string | null>(null);
  const until = (ms: number | null): void => {
    const time = ms === null ? null : new Date(Date.parse(storeTime()) + ms).toISOString();
    ask('prompt/snooze', { ask_id, until: time }).then(
      () => setProblem(null),
      (error: Error) => setProblem(error.message),
    );
  };
  const isSnoozed = snoozed_until !== null && snoozed_until > storeTime();
  return (
    <>
      {isSnoozed ? (
        <button type="button" onClick={() => until(null)}>
          {WORDS.unsnooze}
        </button>
      ) : (
        <details class="snooze">
          <summary>{WORDS.snooze}</summary>
          <button type="button" onClick={() => until(HOUR_MS)}>
            {WORDS.snoozeFor.hour}
          </button>
          <button type="button" onClick={() => until(4 * HOUR_MS)}>
            {WORDS.snoozeFor.evening}
          </button>
          <button type="button" onClick={() => until(msUntilMorning())}>
            {WORDS.snoozeFor.tomorrow}
          </button>
        </details>
      )}
      <p role="alert" class="problem">
        {problem}
      </p>
    </>
  );
}

/** Until nine o'clock of the next day, in the time zone of this device. */
function msUntilMorning(): number {
  const morning = new Date();
  morning.setDate(morning.getDate() + 1);
  morning.setHours(9, 0, 0, 0);
  return morning.getTime() - Date.now();
}
