/** How long what a helper starts lives: as long as the test that starts it, or, in `beforeFile`, as long as the file. */
import { afterAll, beforeAll, onTestFinished } from 'vitest';

type Work = () => unknown;

let file: Work[] | null = null;

/** Ends with the test that runs, last first; with the file where `beforeFile` starts it. */
export function whenFinished(work: Work): void {
  if (file === null) onTestFinished(async () => void (await work()));
  else file.push(work);
}

/** Starts once what all tests of a file share. Its helpers are those that a test uses. */
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
