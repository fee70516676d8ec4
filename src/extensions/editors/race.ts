/**
 * The race for one dialog that an editor shows and the desks show as well: the first answer wins, and the store decides who was
 * first. Whatever speaks for an editor (`hive acp`, `hive attach`, Emacs itself) runs one for each dialog.
 */
import type { EditorAnswer } from './dialog.ts';
import type { EditorService, OfferedDialog, OpenedDialog, WithdrawReason } from './dialogs.ts';

export class DialogRace {
  /** As it was offered; null before, and where the agent's own hooks offer it. */
  offered: OfferedDialog | null = null;
  /** Once it is at the desks, with the answer where a rule has given it already; null as for `offered`. */
  readonly opened: Promise<OpenedDialog | null>;
  readonly #editors: EditorService;
  readonly #stop = new AbortController();
  /** How it was withdrawn while it was being offered. */
  #early: { reason: WithdrawReason; decision: string | null } | null = null;

  /** Begins to offer it. `open` may give up when its signal fires: then nobody asks any more. */
  constructor(editors: EditorService, open: (signal: AbortSignal) => Promise<OpenedDialog | null>) {
    this.#editors = editors;
    this.opened = this.#open(open);
    // `answer` throws what this does. Where nobody asks for an answer, nobody is concerned.
    this.opened.catch(() => undefined);
  }

  async #open(open: (signal: AbortSignal) => Promise<OpenedDialog | null>): Promise<OpenedDialog | null> {
    const opened = await open(this.#stop.signal);
    this.offered = opened?.offered ?? null;
    if (this.offered !== null && this.#early !== null)
      await this.#editors.withdraw(this.offered, this.#early.reason, this.#early.decision);
    return opened;
  }

  /** Fires when nobody waits for the desks any more. */
  get signal(): AbortSignal {
    return this.#stop.signal;
  }

  /** The answer of the desks; null where they give none: it was withdrawn or cancelled, or only the editor shows it. */
  async answer(): Promise<EditorAnswer | null> {
    const opened = await this.opened;
    if (opened === null || this.signal.aborted) return null;
    const { answer, offered } = opened;
    if (answer !== null || offered.ask_ids.length === 0) return answer;
    return this.#editors.untilAnswered(offered, this.signal);
  }

  /** Takes it off the desks. False if a desk has answered first: then that answer counts, and `answer` gives it. */
  async withdraw(reason: WithdrawReason, decision: string | null = null): Promise<boolean> {
    if (this.offered === null) {
      this.#early ??= { reason, decision };
      this.#stop.abort();
      return true;
    }
    const { accepted } = await this.#editors.withdraw(this.offered, reason, decision);
    if (accepted) this.#stop.abort();
    return accepted;
  }

  /** Ends the wait for the desks, whatever they show. */
  end(): void {
    this.#stop.abort();
  }
}
