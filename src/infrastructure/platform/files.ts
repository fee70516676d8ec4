/** Files that belong to others: read where that is possible, never written. */
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import type { Files } from '../../application/ports.ts';

export const files: Files = {
  readTail(path, bytes) {
    try {
      const file = openSync(path, 'r');
      try {
        const { size } = fstatSync(file);
        const tail = Buffer.alloc(Math.min(bytes, size));
        readSync(file, tail, 0, tail.length, size - tail.length);
        return tail.toString('utf8');
      } finally {
        closeSync(file);
      }
    } catch {
      return null;
    }
  },
};
