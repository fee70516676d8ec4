import { existsSync, watch } from 'node:fs';
import { join } from 'node:path';

/** Resolves when there is a file of this name in the folder. */
export function untilThere(folder, name) {
  const isThere = () => existsSync(join(folder, name));
  return new Promise((resolve) => {
    const watcher = watch(folder, check);
    function check() {
      if (!isThere()) return;
      watcher.close();
      resolve();
    }
    check();
  });
}
