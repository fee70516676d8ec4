/** Once for the whole suite: the programs are there, or every file of it is skipped. */
import type { TestProject } from 'vitest/node';
import { type Clients, installClients, installTools, type McpTools } from './install.ts';

declare module 'vitest' {
  interface ProvidedContext {
    clients: Clients | null;
    tools: McpTools | null;
  }
}

export function setup(project: TestProject): void {
  project.provide('clients', installClients());
  project.provide('tools', installTools());
}
