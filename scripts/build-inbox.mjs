// Makes dist/inbox/: the page of the inbox, its service worker, and what a phone needs to install it.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';

/** In bytes: the limit for the first page over the wire, compressed. */
const MOST_BYTES = 60 * 1024;
/** Files that are sent unchanged. */
const PLAIN = ['index.html', 'manifest.webmanifest', 'icon.svg', 'icon-192.png', 'icon-512.png'];
/** The files that a browser loads for the first page. */
const FIRST = ['index.html', 'app.js', 'app.css'];

/** The files that the page may consist of: it runs in a browser. */
const PARTS =
  /^src\/(?:extensions\/inbox\/(?:page\/|(?:device|pushes)\.ts$)|domain\/)|(?:^|\/)node_modules\/(?:preact|idb|@scure\/bip39)\//;

/** The output files and the metafile of one esbuild run, with the plain files among them. */
export async function buildInbox(root) {
  const folder = join(root, 'src/extensions/inbox/page');
  const outdir = join(root, 'dist/inbox');
  const common = {
    absWorkingDir: root,
    bundle: true,
    format: 'esm',
    target: ['chrome137', 'safari17.4', 'firefox130'],
    outdir,
    legalComments: 'none',
    logLevel: 'warning',
    metafile: true,
    minify: true,
    // The page's own tsconfig determines how types are checked; the settings that matter for the build are here.
    tsconfigRaw: {},
    write: false,
  };
  const page = await build({
    ...common,
    splitting: true,
    jsx: 'automatic',
    jsxImportSource: 'preact',
    chunkNames: '[name]-[hash]',
    entryPoints: [join(folder, 'app.tsx'), join(folder, 'app.css')],
  });
  const strangers = Object.keys(page.metafile.inputs).filter((path) => !PARTS.test(path));
  if (strangers.length > 0)
    throw new Error(`The page of the inbox must not contain ${strangers.join(', ')}.`);
  const plain = PLAIN.map((name) => output(join(outdir, name), readFileSync(join(folder, name))));
  preloadChunks(plain[0], page.outputFiles);
  const shell = [...page.outputFiles, ...plain];
  refuseLarge(shell);
  const name = `hive-${digestOf(shell)}`;
  const files = Object.fromEntries(
    shell.map(({ path, contents }) => [
      `/inbox/${basename(path)}`.replace('/inbox/index.html', '/inbox'),
      `sha256-${createHash('sha256').update(contents).digest('base64')}`,
    ]),
  );
  const worker = await build({
    ...common,
    format: 'iife',
    define: { SHELL: JSON.stringify({ name, files }) },
    entryPoints: [join(folder, 'worker.ts')],
  });
  return {
    metafile: {
      inputs: { ...page.metafile.inputs, ...worker.metafile.inputs },
      outputs: { ...page.metafile.outputs, ...worker.metafile.outputs },
    },
    outputFiles: [...shell, ...worker.outputFiles],
  };
}

function output(path, contents) {
  return { path, contents, text: contents.toString('latin1') };
}

/** Chunks that app.js imports at once are loaded with it; the one for pairing is loaded later. */
function chunksOfFirst(files) {
  const app = files.find(({ path }) => basename(path) === 'app.js')?.text ?? '';
  return files.filter(
    ({ path }) => /-[A-Z0-9]{8}\.js$/.test(path) && app.includes(`from"./${basename(path)}"`),
  );
}

/** Makes the browser ask for them together with app.js, and not only after it has read that. */
function preloadChunks(html, files) {
  const links = chunksOfFirst(files).map(
    ({ path }) => `    <link rel="modulepreload" href="/inbox/${basename(path)}">\n`,
  );
  html.text = html.text.replace('  </head>', `${links.join('')}  </head>`);
  html.contents = Buffer.from(html.text, 'latin1');
}

function refuseLarge(files) {
  const first = files.filter(({ path }) => FIRST.includes(basename(path)));
  const bytes = [...first, ...chunksOfFirst(files)].reduce(
    (sum, { contents }) => sum + gzipSync(contents, { level: 9 }).length,
    0,
  );
  if (bytes > MOST_BYTES)
    throw new Error(`The first page of the inbox has ${bytes} bytes over the wire: at most ${MOST_BYTES}.`);
}

function digestOf(files) {
  const hash = createHash('sha256');
  for (const { path, contents } of files) hash.update(basename(path)).update(contents);
  return hash.digest('hex').slice(0, 16);
}
