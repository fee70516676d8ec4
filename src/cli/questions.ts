/** Questions to the person at the terminal. `hive install` asks, too, so this runs on any Node ≥ 20. */
import { createInterface } from 'node:readline';
import { fitted } from './sentences.ts';

/** Whether somebody can be asked. */
export function hasTerminal(): boolean {
  return process.stdin.isTTY && process.stdout.isTTY;
}

/** The line that the person types. The end of the input (Ctrl-D) is a no, and Ctrl-C ends the program as anywhere else. */
export function ask(question: string): Promise<string> {
  const lines = createInterface({ input: process.stdin, output: process.stdout });
  return new Promise((resolve) => {
    const noAnswer = (): void => {
      process.stdout.write('\n');
      resolve('n');
    };
    lines.once('close', noAnswer);
    lines.once('SIGINT', () => {
      lines.close();
      process.kill(process.pid, 'SIGINT');
    });
    lines.question(fitted(question, process.stdout), (answer) => {
      lines.off('close', noAnswer).close();
      resolve(answer.trim());
    });
  });
}
