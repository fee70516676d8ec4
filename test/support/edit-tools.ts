/** The files of an agent, as its hooks read them. */
import type { EditTools } from '../../src/domain/edits.ts';
import { editToolsAt } from '../../src/infrastructure/platform/edits.ts';

/** Reads and compares the files of a tool, for clients whose edits were measured. */
export function measuredEditTools(cwd: string): EditTools {
  return {
    ...editToolsAt(cwd),
    versionIn: async (client) => (client === 'codex' ? '0.169.0' : '2.1.330'),
    directoryOfPatch: async () => cwd,
  };
}
