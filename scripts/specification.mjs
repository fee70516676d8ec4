// Generates docs/internals/specification.md from the records of test/spec: the requirements of each source document, the place
// where Hive fulfils them, and the verdict that a test holds Hive to. The tests are collected and not run. `npm run format`
// writes the page again (--print only shows it); a test fails while it differs.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createVitest } from 'vitest/node';
import { DOCUMENTS, NAMES } from '../test/spec/support/documents.ts';

const root = join(import.meta.dirname, '..');
const target = join(root, 'docs/internals/specification.md');

/** The record of every requirement, sorted by its number. */
async function collect() {
  // One worker imports src/ once for all the files.
  const options = { root, project: ['documents'], watch: false, reporters: [{}], maxWorkers: 1 };
  const vitest = await createVitest('test', options);
  try {
    const { testModules, unhandledErrors } = await vitest.collect(['test/spec/'], { staticParse: false });
    const errors = [...unhandledErrors, ...testModules.flatMap((module) => module.errors())];
    if (errors.length > 0) throw new Error(errors.map(({ message }) => message).join('\n'));
    const tests = testModules.flatMap((module) => [...module.children.allTests()]);
    const records = tests.flatMap((test) => test.meta().requirements ?? []);
    return records.sort((a, b) => numberOf(a) - numberOf(b));
  } finally {
    await vitest.close();
  }
}

const documentOf = ({ id }) => id.slice(0, id.lastIndexOf('-'));
const numberOf = ({ id }) => Number(id.slice(id.lastIndexOf('-') + 1));

const VERDICTS = {
  works: 'works',
  better: 'differs, better',
  neutral: 'differs',
  worse: 'falls short',
  missing: 'missing',
  contradicts: 'contradicts',
};

/** A row of the totals: how many requirements there are, and how many of them have each verdict. */
function totals(name, records) {
  const counts = Object.keys(VERDICTS).map(
    (verdict) => records.filter((record) => record.verdict === verdict).length,
  );
  return row(name, records.length, ...counts);
}

const row = (...cells) => `| ${cells.map((cell) => String(cell).replaceAll('|', '\\|')).join(' | ')} |`;

function section({ id, title, about }, records) {
  const rows = records.map(({ id: number, title: what, source, lives, verdict, because }) =>
    row(number, what.replace(/\.$/, ''), source, lives.join(', '), VERDICTS[verdict], because ?? ''),
  );
  return [
    `## ${id}: ${title}`,
    about,
    [
      '| | requirement | in the source | here | verdict | why it differs |',
      '|---|---|---|---|---|---|',
      ...rows,
    ].join('\n'),
  ].join('\n\n');
}

function page(records) {
  const documents = DOCUMENTS.map((document) => ({
    document,
    own: records.filter((record) => documentOf(record) === document.id),
  }));
  return `${[
    '# Specification',
    'Written by `npm run format` from the tests in `test/spec`. Do not edit it by hand.',
    'Hive was specified by five documents and a design card. Each was written for another program: an editor, a bot, a terminal client. Each requirement in them is tested under the number given here; a test may show several that belong to one scene. The tests drive the real program: an MCP client, a JSON-RPC client, hook events, the command line, the library, an Emacs in a terminal, popups on a desktop. What is called differently here is listed [at the end](#names).',
    [
      row('', 'requirements', ...Object.values(VERDICTS)),
      row(...Array(2 + Object.keys(VERDICTS).length).fill('---')),
      ...documents.map(({ document, own }) => totals(`${document.id}: ${document.title}`, own)),
      totals('all', records),
    ].join('\n'),
    'Where Hive differs on purpose, the test asserts the difference, and the last column gives the reason.',
    ...documents.map(({ document, own }) => section(document, own)),
    '## Names',
    ['| in the document | here |', '|---|---|', ...NAMES.map((names) => row(...names))].join('\n'),
  ].join('\n\n')}\n`;
}

const text = page(await collect());
if (process.argv.includes('--print')) process.stdout.write(text);
else writeFileSync(target, text);
