/** Once for the whole suite: installs the programs, or fails with what is missing. */
import type { TestProject } from 'vitest/node';
import {
  type Clients,
  type EditorAgents,
  installClients,
  installEditorAgents,
  installTools,
  type McpTools,
} from './install.ts';

declare module 'vitest' {
  interface ProvidedContext {
    clients: Clients;
    tools: McpTools;
    editorAgents: EditorAgents;
  }
}

export function setup(project: TestProject): void {
  project.provide('clients', installClients());
  project.provide('tools', installTools());
  project.provide('editorAgents', installEditorAgents());
}
