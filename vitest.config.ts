import { readFileSync } from 'node:fs';
import { defineConfig, type Plugin, type ViteUserConfig } from 'vitest/config';
import { coverage } from './test/support/coverage.ts';
import { TAGS } from './test/support/tags.ts';

// The same as esbuild's text loader in scripts/build.mjs: `import sql from './….sql'` is the text.
const sqlAsText: Plugin = {
  name: 'sql-as-text',
  enforce: 'pre',
  load(id) {
    if (!id.endsWith('.sql')) return;
    return `export default ${JSON.stringify(readFileSync(id, 'utf8'))};`;
  },
};

function project(name: string, ...folders: string[]) {
  return {
    extends: true as const,
    test: { name, include: folders.map((folder) => `test/${folder}/**/*.test.ts`) },
  };
}

/** Tests with the real clients, their hooks over the connection or as processes. */
function clients(name: string, way: 'connection' | 'process', exclude: string[] = []) {
  return {
    extends: true as const,
    test: {
      name,
      include: ['test/clients/**/*.test.ts'],
      exclude: exclude.map((file) => `test/clients/${file}.test.ts`),
      globalSetup: ['test/support/run.ts', 'test/clients/support/setup.ts'],
      env: { HIVE_TEST_HOOKS: way },
    },
  };
}

const config: ViteUserConfig = defineConfig({
  plugins: [sqlAsText],
  test: {
    pool: 'forks',
    // Twice as many as two processors: tests that drive programs wait for half of their time.
    maxWorkers: 4,
    maxConcurrency: 2,
    // A worker imports src/ once, and not once a file: that was a third of the suite's time. nothing-left.ts checks what a
    // file leaves to the next one.
    isolate: false,
    // They end a test that hangs, no more: a busy machine may stall a process for many seconds.
    testTimeout: 180_000,
    hookTimeout: 180_000,
    reporters: ['default', coverage],
    tags: TAGS,
    globalSetup: ['test/support/run.ts'],
    setupFiles: ['test/support/nothing-left.ts', 'test/support/seed.ts'],
    projects: [
      project('quick', 'unit', 'contract', 'wire', 'process', 'emacs', 'docs', 'fuzz', 'spec'),
      // Attacks: each test is one that worked once, or would, and names the claim that it proves.
      project('security', 'security'),
      project('long', 'long'),
      // The inbox in Chromium, which only these tests need.
      project('web', 'web'),
      // Hive beside packages of others, which only these tests need.
      project('editors', 'editors'),
      {
        extends: true as const,
        test: {
          name: 'package',
          include: ['test/package/**/*.test.ts'],
          globalSetup: ['test/support/run.ts', 'test/package/setup.ts'],
        },
      },
      clients('clients', 'connection'),
      // The same with a process for each hook, as with older clients. Left out is what has no hooks of a client's
      // (mcp-*, opencode, acp-agents), whose hooks are functions (agent-sdk), whose hooks take one way only (init: Codex and the plugin), and what
      // takes both ways itself (runs-killed).
      clients('clients-by-process', 'process', [
        'mcp-*',
        'opencode',
        'acp-agents',
        'agent-sdk',
        'init',
        'runs-killed',
      ]),
    ],
  },
});

export default config;
