/** Once for the whole suite: installs the programs, or fails with what is missing. */
import type { TestProject } from 'vitest/node';
import { type Clients, installClients, installTools, type McpTools } from './install.ts';

declare module 'vitest' {
  interface ProvidedContext {
    clients: Clients;
    tools: McpTools;
  }
}

export function setup(project: TestProject): void {
  project.provide('clients', installClients());
  project.provide('tools', installTools());
}
