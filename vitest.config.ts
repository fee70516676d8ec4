import { readFileSync } from 'node:fs';
import { defineConfig, type Plugin, type ViteUserConfig } from 'vitest/config';
import { coverage } from './test/support/coverage.ts';
import { LongFirst } from './test/support/long-first.ts';
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

/** The tests of src/extensions: editors and other agents, phones, PostgreSQL, headless runs, and agents on other machines. */
const EXTENSIONS = [
  'test/{emacs,fuzz,process,wire}/{acp,agent-shell*,attach,eca,editor-methods,editors,opencode}.test.ts',
  'test/security/{attached,editors}.test.ts',
  'test/{emacs,process,security}/{devices,door,inbox,phone,push,pushes}.test.ts',
  'test/{contract,process,security}/{migrate,postgres*}.test.ts',
  'test/{contract,process,security,wire}/{agent-sdk,run-agents,runs}.test.ts',
  'test/unit/{devices,inbox-address,markdown,postgres-tls,pushes,qr,runs}.test.ts',
  'test/{emacs,process,security}/{crowded-server,remote-*,serve,serve-modern,serving,token}.test.ts',
];

function project(name: string, ...folders: string[]) {
  return {
    extends: true as const,
    test: { name, include: folders.map((folder) => `test/${folder}/**/*.test.ts`), exclude: EXTENSIONS },
  };
}

/** Tests with the real clients, their hooks over the connection or as processes. */
function clients(name: string, way: 'connection' | 'process', ...files: string[]) {
  return {
    extends: true as const,
    test: {
      name,
      include: files.map((file) => `test/clients/${file}.test.ts`),
      globalSetup: ['test/support/run.ts', 'test/clients/support/setup.ts'],
      env: { HIVE_TEST_HOOKS: way },
    },
  };
}

const config: ViteUserConfig = defineConfig({
  plugins: [sqlAsText],
  test: {
    pool: 'forks',
    // Four times as many as two processors: tests that drive programs wait for most of their time.
    maxWorkers: 8,
    maxConcurrency: 4,
    // A worker imports src/ once, and not once a file: that was a third of the suite's time. nothing-left.ts checks what a
    // file leaves to the next one.
    isolate: false,
    // They end a test that hangs, no more: a busy machine may stall a process for many seconds.
    testTimeout: 180_000,
    hookTimeout: 180_000,
    sequence: { sequencer: LongFirst },
    reporters: ['default', coverage],
    tags: TAGS,
    globalSetup: ['test/support/run.ts'],
    setupFiles: ['test/support/nothing-left.ts', 'test/support/seed.ts'],
    projects: [
      // In test/security are attacks: each test is one that worked once, or would, and names the claim that it proves.
      project('quick', 'unit', 'contract', 'wire', 'process', 'emacs', 'security'),
      // Whether Hive does what its source documents ask for, and the documents say what it does; random inputs; and the tools with
      // which Hive is tested.
      project('documents', 'spec', 'docs', 'fuzz', 'tools'),
      { extends: true as const, test: { name: 'extensions', include: EXTENSIONS } },
      project('long', 'long'),
      // The inbox in Chromium, which only these tests need.
      project('web', 'web'),
      // Other systems that fail at length, real installations, and more of what the quick tests try in part.
      project('faults', 'faults'),
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
      clients('clients', 'connection', '**/*'),
      // With a process for each hook, as with older clients: one file for each kind of hook that can take both ways, and for
      // what depends on how a hook waits, is ended or fails. CONTRIBUTING.md says why the others are not here.
      clients(
        'clients-by-process',
        'process',
        'claude-dialogs',
        'claude-forms',
        'claude-http',
        'claude-init',
        'claude-interrupts',
        'claude-stop',
        'claude-wake',
        'codex-interrupts',
        'mentions',
        'prompts',
      ),
    ],
  },
});

export default config;
