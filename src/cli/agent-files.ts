/** What the doctor looks at in the agents' own files; loaded when it is asked. */
import type { Examination } from '../application/ports.ts';

export async function examineAgentFiles(): Promise<readonly Examination[]> {
  const { examineAgents } = await import('../infrastructure/installation/examinations.ts');
  return examineAgents(process.env, process.cwd());
}
