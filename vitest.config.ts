import { readFileSync } from 'node:fs';
import { defineConfig, type Plugin, type ViteUserConfig } from 'vitest/config';
import type { Reporter } from 'vitest/node';

// The same as esbuild's text loader in scripts/build.mjs: `import sql from './….sql'` is the text.
const sqlAsText: Plugin = {
  name: 'sql-as-text',
  enforce: 'pre',
  load(id) {
    if (!id.endsWith('.sql')) return;
    return `export default ${JSON.stringify(readFileSync(id, 'utf8'))};`;
  },
};

/** A retry keeps a stalled machine from failing a run, and must hide no flake: it is named at the end. */
const retried: Reporter = {
  onTestRunEnd(modules) {
    const names = modules
      .flatMap((module) => [...module.children.allTests()].filter((test) => test.diagnostic()?.flaky))
      .map((test) => `  ${test.module.relativeModuleId} > ${test.fullName}`);
    if (names.length > 0)
      process.stdout.write(`\nFailed once and passed when retried:\n${names.join('\n')}\n`);
  },
};

function project(name: string, ...folders: string[]) {
  return {
    extends: true as const,
    test: { name, include: folders.map((folder) => `test/${folder}/**/*.test.ts`) },
  };
}

const config: ViteUserConfig = defineConfig({
  plugins: [sqlAsText],
  test: {
    pool: 'forks',
    reporters: ['default', retried],
    // One more than two processors: tests that drive programs wait for a quarter of their time. What decides whether a
    // change is taken goes more calmly.
    maxWorkers: process.env['CI'] === undefined ? 3 : 2,
    maxConcurrency: 2,
    testTimeout: 20_000,
    // A shared machine can stall a real process for seconds; a test that fails twice has found something.
    retry: process.env['CI'] === undefined ? 0 : 1,
    hookTimeout: 30_000,
    setupFiles: ['test/support/nothing-left.ts'],
    projects: [
      project('quick', 'unit', 'contract', 'wire', 'process', 'emacs', 'docs', 'fuzz', 'spec'),
      // Attacks: each test is one that worked once, or would, and names the claim that it proves.
      project('security', 'security'),
      project('long', 'long'),
      project('package', 'package'),
      {
        extends: true as const,
        test: {
          name: 'clients',
          include: ['test/clients/**/*.test.ts'],
          globalSetup: ['test/clients/support/setup.ts'],
          testTimeout: 60_000,
        },
      },
    ],
  },
});

export default config;
