/** The types that the package ships, as the compiler writes them: what each entry exports, with its comments. */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { ROOT } from '../support/children.ts';
import { tempFolder } from '../support/temp.ts';

export interface Declared {
  name: string;
  documented: boolean;
  /** Of an interface or a class: each member, inherited ones too, and whether it has a comment. */
  members: { name: string; documented: boolean }[];
}

/** What the entries that package.json names export, by entry. */
export function emitDeclarations(): Map<string, Declared[]> {
  const folder = tempFolder();
  const tsc = join(ROOT, 'node_modules/.bin/tsc');
  const emitted = spawnSync(tsc, ['-p', 'tsconfig.build.json', '--outDir', folder], {
    cwd: ROOT,
    encoding: 'utf8',
  });
  if (emitted.status !== 0)
    throw new Error(`The types could not be written: ${emitted.stdout}${emitted.stderr}`);
  const { exports } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
    exports: Record<string, { types?: string }>;
  };
  const entries = Object.entries(exports).flatMap(([entry, { types }]) =>
    types === undefined ? [] : [[entry, join(folder, types.replace('./dist/types/', ''))] as const],
  );
  return new Map(
    entries.map(([entry, file]) => [entry, exportedBy(file).map((name) => declarationOf(file, name))]),
  );
}

const read = (file: string): string => readFileSync(file, 'utf8');
const target = (file: string, from: string): string => join(dirname(file), from).replace(/\.ts$/, '.d.ts');
const namesIn = (list: string): string[] =>
  list
    .split(',')
    .map((name) => name.trim().replace(/^type /, ''))
    .filter((name) => name !== '');

const DECLARED = /^export (?:declare )?(?:interface|type|class|function|const) (\w+)/gm;
const PASSED_ON = /^export (?:type )?\{([^}]*)\} from '([^']+)';/gm;
const ALL_PASSED_ON = /^export (?:type )?\* from '([^']+)';/gm;
const IMPORTED = /^import (?:type )?\{([^}]*)\} from '(\.[^']+)';/gm;

function exportedBy(file: string): string[] {
  const text = read(file);
  const own = [...text.matchAll(DECLARED)].map(([, name = '']) => name);
  const passedOn = [...text.matchAll(PASSED_ON)].flatMap(([, names = '']) => namesIn(names));
  const all = [...text.matchAll(ALL_PASSED_ON)].flatMap(([, from = '']) => exportedBy(target(file, from)));
  return [...own, ...passedOn, ...all];
}

/** The file that declares a name that another one declares, imports or passes on. */
function declaringFile(file: string, name: string): string {
  const text = read(file);
  if ([...text.matchAll(DECLARED)].some(([, own]) => own === name)) return file;
  const named = [...text.matchAll(PASSED_ON), ...text.matchAll(IMPORTED)].find(([, names = '']) =>
    namesIn(names).includes(name),
  );
  if (named?.[2] !== undefined) return declaringFile(target(file, named[2]), name);
  const whole = [...text.matchAll(ALL_PASSED_ON)]
    .map(([, from = '']) => target(file, from))
    .find((one) => exportedBy(one).includes(name));
  if (whole === undefined) throw new Error(`Nothing that ${file} sees declares ${name}.`);
  return declaringFile(whole, name);
}

const BUILT_IN = new Set(['Error']);

function declarationOf(asker: string, name: string): Declared {
  const file = declaringFile(asker, name);
  const text = read(file);
  const head = new RegExp(
    `^export (?:declare )?(interface|type|class|function|const) ${name}\\b(?: extends (\\w+))?.*$`,
    'm',
  );
  const found = head.exec(text);
  if (found === null) throw new Error(`${file} declares no ${name}.`);
  const documented = (at: number): boolean => text.slice(0, at).trimEnd().endsWith('*/');
  const members: Declared['members'] = [];
  if ((found[1] === 'interface' || found[1] === 'class') && found[0].endsWith('{')) {
    const begin = found.index + found[0].length;
    const body = text.slice(begin, text.indexOf('\n}', begin));
    // The compiler indents the members, and only them, by four spaces; a short comment stands on the same line.
    for (const match of body.matchAll(/^ {4}(?:\/\*\*.*\*\/ )?((?:readonly )?(\w+)\??[:(<])/gm)) {
      const [line, start = '', member = ''] = match;
      if (member !== 'constructor')
        members.push({ name: member, documented: documented(begin + match.index + line.indexOf(start)) });
    }
  }
  const base = found[2];
  const inherited = base === undefined || BUILT_IN.has(base) ? [] : declarationOf(file, base).members;
  return { name, documented: documented(found.index), members: [...members, ...inherited] };
}
