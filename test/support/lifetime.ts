/** The lifetime of what a helper starts: the test that starts it, or in `beforeFile` the whole file. */
import { afterAll, beforeAll, onTestFinished } from 'vitest';

type Work = () => unknown;

let file: Work[] | null = null;

/** Ends with the running test, last first; in `beforeFile`, with the file. */
export function whenFinished(work: Work): void {
  if (file === null) onTestFinished(async () => void (await work()));
  else file.push(work);
}

/** Closes this with the running test, last first; in `beforeFile`, with the file. */
export function closedAtEnd<T extends { close(): unknown }>(opened: T): T {
  whenFinished(() => opened.close());
  return opened;
}

/** Starts what all tests of a file share, with the same helpers that a test uses. */
export function beforeFile(start: () => Promise<void>): void {
  const works: Work[] = [];
  beforeAll(async () => {
    file = works;
    try {
      await start();
    } finally {
      file = null;
    }
  });
  afterAll(async () => {
    for (const work of works.toReversed()) await work();
  });
}
