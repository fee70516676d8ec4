/** An interactive client in a real terminal: typed at with keys, read off the screen. */
import type { Terminal } from '../../support/tmux.ts';

export interface ChatTerminal extends Terminal {
  /** Types a message, waits until it is displayed, and sends it. */
  say(message: string): Promise<void>;
}

export function chatIn(terminal: Terminal): ChatTerminal {
  return {
    ...terminal,
    async say(message) {
      await terminal.type(message);
      await terminal.until(new RegExp(message.slice(0, 30).replaceAll(/[^\w ]/g, '.')));
      await terminal.keys('Enter');
    },
  };
}
