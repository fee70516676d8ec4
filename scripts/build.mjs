// Makes dist/: the bundles, and without --fast also the types, the licences of what is bundled in, and a
// check of the whole package (publint). With --sabotage the program asks for deliberate bugs (src/ambient.d.ts).
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { build } from 'esbuild';
import { buildInbox } from './build-inbox.mjs';
import { noticesOf } from './build-notices.mjs';
import { removeStale, writeOutput } from './build-output.mjs';

const root = join(import.meta.dirname, '..');
const dist = join(root, 'dist');
const fast = process.argv.includes('--fast');
const { unbundled } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const define = process.argv.includes('--sabotage') ? {} : { 'globalThis.SABOTAGE': 'undefined' };

const common = {
  absWorkingDir: root,
  bundle: true,
  platform: 'node',
  target: 'node24',
  outdir: dist,
  define,
  loader: { '.sql': 'text' },
  // node-notifier looks for its vendored programs next to its own file; the others are optional or native.
  external: [...unbundled, 'pg-native', '@anthropic-ai/*', '@openai/*'],
  legalComments: 'none',
  logLevel: 'warning',
  metafile: true,
  write: false,
};

// zod contains its messages in some fifty languages and loads all of them: a third of what `hive mcp` would read.
const oneLanguage = {
  name: 'one-language',
  setup({ onLoad }) {
    onLoad({ filter: /zod[\\/]v4[\\/]locales[\\/]index\.js$/ }, ({ path }) => ({
      contents: "export { default as en } from './en.js';",
      resolveDir: dirname(path),
    }));
  },
};

/** Leaves out our own files that are imported on demand and that `isLeftOut` selects: importing one throws. */
function leavingOut(isLeftOut, program) {
  const namespace = 'left-out';
  const contents = `throw Object.assign(new Error('This is only in ${program}.'), { code: 'LEFT_OUT' });`;
  return {
    name: 'leaving-out',
    setup({ onResolve, onLoad }) {
      onResolve({ filter: /^\./ }, (found) =>
        found.kind === 'dynamic-import' && isLeftOut(found) ? { path: namespace, namespace } : undefined,
      );
      onLoad({ filter: /.*/, namespace }, () => ({ contents }));
    },
  };
}

const modules = {
  ...common,
  // Its CommonJS form hides its own files from a bundler.
  alias: { 'jsonc-parser': 'jsonc-parser/lib/esm/main.js' },
  format: 'esm',
  // This leaves less to read at each start; names are kept for stack traces.
  minifyWhitespace: true,
  minifySyntax: true,
  plugins: [oneLanguage],
  splitting: true,
  chunkNames: 'chunks/[name]-[hash]',
  entryPoints: present({
    index: 'src/index.ts',
    'agent-sdk': 'src/extensions/runs/agent-sdk/index.ts',
  }),
  // The CommonJS packages inside (vscode-jsonrpc among them) call `require` for Node's own modules.
  banner: {
    js: "import { createRequire as hiveCreateRequire } from 'node:module';\nconst require = hiveCreateRequire(import.meta.url);",
  },
};

// Each program that bin/hive starts is one file, a function that bin/hive calls: so bin/hive can keep its compiled code.
const started = {
  ...common,
  format: 'cjs',
  outExtension: { '.js': '.cjs' },
  banner: { js: '(function (module, require, __filename, __dirname) {' },
  footer: { js: '})' },
  define: {
    ...define,
    'import.meta.dirname': '__dirname',
    'import.meta.filename': '__filename',
  },
  // Such a function cannot import(), so modules outside of the bundle are loaded by require.
  supported: { 'dynamic-import': false },
};

const program = {
  ...started,
  alias: modules.alias,
  minifyWhitespace: true,
  minifySyntax: true,
  plugins: [oneLanguage],
  entryPoints: present({ main: 'src/cli/start.ts' }),
};

// `hive mcp` starts with each agent and stays. Without the other commands it has a quarter less to read and to hold: 3 MiB.
const COMMANDS = ['main.ts', 'extensions.ts'].map((name) => join(root, 'src/cli', name));
const OF_MCP = ['./mcp.ts', '../extensions/runs/deny.ts', '../extensions/serve/mcp.ts'];
const mcp = {
  ...program,
  plugins: [
    oneLanguage,
    leavingOut(
      ({ importer, path }) => COMMANDS.includes(importer) && !OF_MCP.includes(path),
      'dist/main.cjs',
    ),
  ],
  entryPoints: present({ mcp: 'src/cli/start.ts' }),
};

// `hive install` runs on the machine's own Node.
const installer = {
  ...started,
  target: 'node20',
  minifyWhitespace: true,
  minifySyntax: true,
  entryPoints: present({ install: 'src/cli/install.ts' }),
};

const hook = {
  ...started,
  // Less to read at each start saves 2 ms.
  minify: true,
  entryPoints: present({ hook: 'src/cli/hook.ts' }),
};

// The same without the files that are imported on demand: a third of the text, and one scope instead of a function for each
// module. Nearly every hook of a tool call needs no more. One that does is started again in the complete program (bin/hive).
const smallHook = {
  ...hook,
  entryPoints: present({ 'hook-small': 'src/cli/hook.ts' }),
  plugins: [leavingOut(() => true, 'dist/hook.cjs')],
};

const NOTHING = { outputFiles: [], metafile: { inputs: {}, outputs: {} } };

try {
  const startedBundles = await Promise.all([program, hook, smallHook, mcp, installer].map(bundle));
  // A build without extensions has none.
  const inbox = existsSync(join(root, 'src/extensions/inbox')) ? await buildInbox(root) : NOTHING;
  const results = [await bundle(modules), ...startedBundles, inbox];
  refusePackagesInHook(startedBundles[1].metafile);
  sign(startedBundles.flatMap((result) => result.outputFiles));
  mkdirSync(dist, { recursive: true });
  const files = results.flatMap((result) => result.outputFiles);
  writeOutput(files);
  if (!fast) {
    removeStale(join(dist, 'chunks'), files);
    removeStale(join(dist, 'inbox'), files);
    writeFileSync(join(dist, 'NOTICES.txt'), noticesOf(root, results));
    emitTypes();
    run('publint', '--strict');
  }
} catch (error) {
  // esbuild has already printed its own errors, with the place in the source.
  if (!error.errors) console.error(error.message);
  process.exitCode = 1;
}

/** Adds a last line with the digest of everything before it: bin/hive keeps compiled code under that name. */
function sign(outputFiles) {
  for (const file of outputFiles) {
    const text = file.text.trimEnd();
    if (/[^\x00-\x7f]/.test(text))
      throw new Error(`${file.path} must be plain ASCII, because bin/hive reads it as such.`);
    const digest = createHash('sha256').update(text).digest('hex').slice(0, 16);
    file.contents = Buffer.from(`${text}\n//${digest}\n`);
  }
}

function present(entries) {
  return Object.fromEntries(Object.entries(entries).filter(([, source]) => existsSync(join(root, source))));
}

async function bundle(options) {
  if (Object.keys(options.entryPoints).length === 0) return NOTHING;
  return build(options);
}

// A hook starts for each event of an agent; zod alone would make the start 2.8 times as slow. Only the content of the bundle
// counts: esbuild leaves out what only other programs reach. The packages in it run only for a dialog: `diff` compares an edit with
// its file, and `ws` asks Codex whether a desk can answer.
function refusePackagesInHook({ inputs, outputs }) {
  const bundled = new Set(Object.values(outputs).flatMap((output) => Object.keys(output.inputs)));
  for (const [importer, { imports }] of Object.entries(inputs)) {
    const found = imports.find(
      ({ path }) =>
        path.startsWith('node_modules/') && !/^node_modules\/(diff|ws)\//.test(path) && bundled.has(path),
    );
    if (found && !importer.startsWith('node_modules/')) {
      throw new Error(
        `dist/hook.cjs must hold no other npm packages than diff and ws, but ${importer} imports "${found.original}": ` +
          'move that import out of what src/cli/hook.ts reaches.',
      );
    }
  }
}

function emitTypes() {
  rmSync(join(dist, 'types'), { recursive: true, force: true });
  run('tsc', '-p', 'tsconfig.build.json');
}

function run(tool, ...args) {
  const program = join(root, 'node_modules/.bin', tool);
  const { status, stdout, stderr } = spawnSync(program, args, { cwd: root, encoding: 'utf8' });
  if (status !== 0) throw new Error(`${stdout}${stderr}\n"${tool} ${args.join(' ')}" failed.`.trim());
}
