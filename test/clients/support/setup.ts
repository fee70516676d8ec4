/** Once for the whole suite: the programs are there, or every file of it is skipped. */
import type { TestProject } from 'vitest/node';
import { type Clients, installClients } from './install.ts';

declare module 'vitest' {
  interface ProvidedContext {
    clients: Clients | null;
  }
}

export function setup(project: TestProject): void {
  project.provide('clients', installClients());
}
