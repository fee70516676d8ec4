/**
 * The race for one dialog that both an editor and the desks show: the first answer wins, and the store decides which one was
 * first. Each program that acts for an editor (`hive acp`, `hive attach`, Emacs itself) runs one race per dialog.
 */
import type { EditorAnswer } from './dialog.ts';
import type { EditorService, OfferedDialog, OpenedDialog, WithdrawReason } from './dialogs.ts';

export class DialogRace {
  /** The dialog as it was offered; null before that, and if the agent's own hooks offer it. */
  offered: OfferedDialog | null = null;
  /** Resolves once the dialog is at the desks, with the answer if a rule has given it already; null as for `offered`. */
  readonly opened: Promise<OpenedDialog | null>;
  readonly #editors: EditorService;
  readonly #stop = new AbortController();
  /** The withdrawal, if it came while the dialog was being offered. */
  #early: { reason: WithdrawReason; decision: string | null } | null = null;

  /** Begins to offer it. `open` may give up when its signal fires, because the agent no longer asks. */
  constructor(editors: EditorService, open: (signal: AbortSignal) => Promise<OpenedDialog | null>) {
    this.#editors = editors;
    this.opened = this.#open(open);
    // `answer` throws the same error; if nobody calls it, the error is irrelevant.
    this.opened.catch(() => undefined);
  }

  async #open(open: (signal: AbortSignal) => Promise<OpenedDialog | null>): Promise<OpenedDialog | null> {
    const opened = await open(this.#stop.signal);
    this.offered = opened?.offered ?? null;
    if (this.offered !== null && this.#early !== null)
      await this.#editors.withdraw(this.offered, this.#early.reason, this.#early.decision);
    return opened;
  }

  /** Fires when an answer from the desks is no longer wanted. */
  get signal(): AbortSignal {
    return this.#stop.signal;
  }

  /** The answer of the desks; null if there is none: it was withdrawn or cancelled, or only the editor shows it. */
  async answer(): Promise<EditorAnswer | null> {
    const opened = await this.opened;
    if (opened === null || this.signal.aborted) return null;
    const { answer, offered } = opened;
    if (answer !== null || offered.ask_ids.length === 0) return answer;
    return this.#editors.untilAnswered(offered, this.signal);
  }

  /** Takes it off the desks. False if a desk answered first: then that answer counts, and `answer` returns it. */
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
