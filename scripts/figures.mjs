// Generates the figures in docs/internals/architecture.md: the size of the program, and the number of its settings, commands and
// methods. `npm run format` writes them again (--print only shows them); `npm run check` fails while they differ (--check). Lines
// and words are rounded, so that not every changed line changes the page.
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { METHODS, methodsWith } from '../src/adapters/emacs/connection.ts';
import { NOTIFICATIONS } from '../src/adapters/emacs/method.ts';
import { toolsFor } from '../src/adapters/mcp/server.ts';
import { EXTENSION_COMMANDS, emacsExtensions } from '../src/cli/extensions.ts';
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

function sizeOf(texts) {
  return `${counted(texts.length)} files, ${about(linesOf(texts))} lines`;
}

function countOf(text, pattern) {
  return [...text.matchAll(pattern)].length;
}

const LAYERS = ['domain', 'application', 'schemas', 'infrastructure', 'adapters', 'cli', 'extensions'];

/** The packages among these that the files import. */
function packagesOf(texts, dependencies) {
  const imported = texts.flatMap(({ text }) =>
    [...text.matchAll(/\b(?:from|import\(|require\()\s*'([^'./][^']*)'/g)].map(([, name]) => name),
  );
  return dependencies.filter((name) => imported.some((one) => one === name || one.startsWith(`${name}/`)));
}

/** The commands below one, except `without`, and the options of each, without those that every command has. */
function surfaceOf(command, without = []) {
  const below = command.commands
    .filter((one) => one.name() !== 'help' && !without.includes(one.name()))
    .map((one) => surfaceOf(one));
  const own = command.options.filter(({ hidden, long }) => !hidden && long !== '--version').length;
  return {
    commands: below.length,
    below: below.reduce((sum, { commands }) => sum + commands, 0),
    options: own + below.reduce((sum, { options }) => sum + options, 0),
  };
}

const surface = ({ commands, below, options }) => `${commands} (${below}), ${options}`;

/** The files of elisp/ that scripts/check-elisp.el keeps apart from the core. */
const LISP_EXTENSIONS = new Set(
  [
    .../check-elisp-extensions\s+'\(([^)]*)\)/.exec(read('scripts/check-elisp.el'))[1].matchAll(/"([^"]+)"/g),
  ].map(([, name]) => `elisp/${name}.el`),
);

async function figures() {
  const program = await commandLine('help', true);
  const all = surfaceOf(program);
  const core = surfaceOf(program, Object.values(EXTENSION_COMMANDS).flatMap(Object.keys));
  const typescript = ['.ts', '.tsx'].flatMap((ending) => textsIn('src', ending));
  const ofCore = typescript.filter(({ name }) => !name.startsWith('src/extensions/'));
  const lisp = textsIn('elisp', '.el');
  const lispOfCore = lisp.filter(({ name }) => !LISP_EXTENSIONS.has(name));
  const sql = textsIn('sql', '.sql')
    .map(({ text }) => text)
    .join('\n');
  const senders = ofCore.filter(({ name }) => name !== 'src/adapters/emacs/method.ts');
  const sentByCore = NOTIFICATIONS.filter((name) => senders.some(({ text }) => text.includes(`'${name}'`)));
  const packages = Object.keys(JSON.parse(read('package.json')).dependencies);
  const docs = textsIn('docs', '.md');
  const isInternal = ({ name }) => name.startsWith('docs/internals/');
  const pages = [...docs.filter((page) => !isInternal(page)), { text: read('README.md') }];
  // Without the figures themselves, which would change the result.
  const wordsOf = (texts) =>
    texts.reduce((sum, { text }) => sum + countOf(withoutFigures(text).join(''), /\S+/g), 0);
  const rows = [
    ['`src/`, of which the core', `${sizeOf(typescript)}; ${sizeOf(ofCore)}`],
    ...LAYERS.map((layer) => [
      `of which \`${layer}/\``,
      sizeOf(typescript.filter(({ name }) => name.startsWith(`src/${layer}/`))),
    ]),
    ['`elisp/`, of which the core', `${sizeOf(lisp)}; ${sizeOf(lispOfCore)}`],
    ['`test/`', sizeOf(['.ts', '.tsx', '.el', '.mjs'].flatMap((ending) => textsIn('test', ending)))],
    ['pages for users: the README and `docs/`', `${about(wordsOf(pages))} words`],
    ['`docs/internals/`', `${about(wordsOf(docs.filter(isInternal)))} words`],
    ['packages at run time, of the core', `${packages.length}, ${packagesOf(ofCore, packages).length}`],
    ['MCP tools: agents, coordinators', `${toolsFor('agent').length}, ${toolsFor('coordinator').length}`],
    ['commands of `hive` (and below them), options of all', surface(all)],
    ['the same of the core', surface(core)],
    ['settings, options of Emacs', `${SETTINGS.length}, ${countOf(textOf(lisp), /^\(defcustom/gm)}`],
    [
      'JSON-RPC methods, of the core; notifications to Emacs, of the core',
      // With initialize and shutdown, which belong to no capability.
      `${Object.keys(methodsWith(await emacsExtensions())).length + 2}, ${Object.keys(METHODS).length + 2}; ${NOTIFICATIONS.length}, ${sentByCore.length}`,
    ],
    ['tables, kinds of events', `${countOf(sql, /CREATE TABLE/g)}, ${EVENT_TYPES.length}`],
  ];
  return ['| | |', '|---|---|', ...rows.map(([name, figure]) => `| ${name} | ${figure} |`), ''].join('\n');
}

/** The text before and after the figures of a page. */
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
