// Generates the figures in docs/internals/architecture.md: how large the program is, and what of it can be set, called or read.
// `npm run format` writes them again (--print only shows them); `npm run check` fails while they differ (--check). Lines and
// words are rounded, so that not every change of a line is a change of the page.
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { methodsWith } from '../src/adapters/emacs/connection.ts';
import { toolsFor } from '../src/adapters/mcp/server.ts';
import { emacsExtensions } from '../src/cli/extensions.ts';
import { commandLine } from '../src/cli/main.ts';
import { EVENT_TYPES } from '../src/domain/events.ts';
import { SETTINGS } from '../src/domain/settings.ts';

const root = join(import.meta.dirname, '..');
const page = join(root, 'docs/internals/architecture.md');
const [BEGIN, END] = ['<!-- begin: npm run format -->\n', '<!-- end: npm run format -->'];

const read = (path) => readFileSync(join(root, path), 'utf8');
const counted = (number) => number.toLocaleString('en');
const about = (number) => counted(Math.round(number / 500) * 500);

/** The files below a folder with this ending, as text. */
function textsIn(folder, ending) {
  return readdirSync(join(root, folder), { recursive: true })
    .map((name) => join(folder, name))
    .filter((name) => name.endsWith(ending) && statSync(join(root, name)).isFile())
    .sort()
    .map((name) => ({ name, text: read(name) }));
}

const linesOf = (texts) => texts.reduce((sum, { text }) => sum + text.split('\n').length - 1, 0);

function sizeOf(folder, ...endings) {
  const texts = endings.flatMap((ending) => textsIn(folder, ending));
  return `${counted(texts.length)} files, ${about(linesOf(texts))} lines`;
}

function countOf(text, pattern) {
  return [...text.matchAll(pattern)].length;
}

const LAYERS = ['domain', 'application', 'schemas', 'infrastructure', 'adapters', 'cli', 'extensions'];

/** The commands below one, and the options of each, without those that every command has. */
function surfaceOf(command) {
  const below = command.commands.filter((one) => one.name() !== 'help').map(surfaceOf);
  const own = command.options.filter(({ hidden, long }) => !hidden && long !== '--version').length;
  return {
    commands: below.length,
    below: below.reduce((sum, { commands }) => sum + commands, 0),
    options: own + below.reduce((sum, { options }) => sum + options, 0),
  };
}

async function figures() {
  const { commands, below, options } = surfaceOf(await commandLine('help', true));
  const lisp = textsIn('elisp', '.el');
  const sql = textsIn('sql', '.sql')
    .map(({ text }) => text)
    .join('\n');
  const notifications = read('docs/internals/protocol.md').split('\n## Notifications to Emacs\n')[1] ?? '';
  const packages = Object.keys(JSON.parse(read('package.json')).dependencies).length;
  const docs = textsIn('docs', '.md');
  const isInternal = ({ name }) => name.startsWith('docs/internals/');
  const pages = [...docs.filter((page) => !isInternal(page)), { text: read('README.md') }];
  // Without the figures themselves, which would change what they say.
  const wordsOf = (texts) =>
    texts.reduce((sum, { text }) => sum + countOf(withoutFigures(text).join(''), /\S+/g), 0);
  const rows = [
    ['`src/`', sizeOf('src', '.ts', '.tsx')],
    ...LAYERS.map((layer) => [`of which \`${layer}/\``, sizeOf(join('src', layer), '.ts', '.tsx')]),
    ['`elisp/`', sizeOf('elisp', '.el')],
    ['`test/`', sizeOf('test', '.ts', '.tsx', '.el', '.mjs')],
    ['pages for users: the README and `docs/`', `${about(wordsOf(pages))} words`],
    ['`docs/internals/`', `${about(wordsOf(docs.filter(isInternal)))} words`],
    ['packages at run time', packages],
    ['MCP tools: agents, coordinators', `${toolsFor('agent').length}, ${toolsFor('coordinator').length}`],
    ['commands of `hive` (and below them), options of all', `${commands} (${below}), ${options}`],
    ['settings, options of Emacs', `${SETTINGS.length}, ${countOf(textOf(lisp), /^\(defcustom/gm)}`],
    [
      'JSON-RPC methods, notifications to Emacs',
      // With initialize and shutdown, which belong to no capability.
      `${Object.keys(methodsWith(await emacsExtensions())).length + 2}, ${countOf(notifications.split('\n## ')[0] ?? '', /^### /gm)}`,
    ],
    ['tables, kinds of events', `${countOf(sql, /CREATE TABLE/g)}, ${EVENT_TYPES.length}`],
  ];
  return ['| | |', '|---|---|', ...rows.map(([name, figure]) => `| ${name} | ${figure} |`), ''].join('\n');
}

/** What stands before and behind the figures of a page. */
function withoutFigures(text) {
  const [head, rest] = text.split(BEGIN);
  return rest === undefined ? [head, ''] : [head, rest.split(END)[1]];
}

function textOf(texts) {
  return texts.map(({ text }) => text).join('\n');
}

const before = readFileSync(page, 'utf8');
const [head, behind] = withoutFigures(before);
const written = await figures();
const after = [head, BEGIN, written, END, behind].join('');
if (process.argv.includes('--print')) process.stdout.write(written);
else if (!process.argv.includes('--check')) writeFileSync(page, after);
else if (before !== after) {
  console.error(
    'The figures in docs/internals/architecture.md are not those of this tree: npm run format writes them again.',
  );
  process.exitCode = 1;
}
