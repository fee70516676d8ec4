/** The exports of the package's entries, as the compiler sees them: every name with its comment and its members. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { API, type Checker, SymbolFlags, type Symbol as TypeScriptSymbol } from 'typescript/unstable/sync';
import { ROOT } from '../support/children.ts';

export interface Declared {
  name: string;
  documented: boolean;
  /** Of an interface or a class of ours: each member, inherited ones too, and whether it has a comment. */
  members: { name: string; documented: boolean }[];
}

/** The exports of the entries that package.json names, by entry. */
export function readDeclarations(): Map<string, Declared[]> {
  const { exports } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
    exports: Record<string, { types?: string }>;
  };
  const entries = Object.entries(exports).flatMap(([entry, { types }]) =>
    types === undefined ? [] : [[entry, sourceOf(types)] as const],
  );
  const compiler = new API({ cwd: ROOT });
  try {
    const config = join(ROOT, 'tsconfig.build.json');
    const project = compiler.updateSnapshot({ openProjects: [config] }).getProject(config);
    if (project === undefined) throw new Error(`The compiler did not open ${config}.`);
    const { checker, program } = project;
    return new Map(
      entries.map(([entry, file]) => {
        const source = program.getSourceFile(file);
        const module = source && checker.getSymbolAtLocation(source);
        if (module === undefined) throw new Error(`${file} is no module of ${config}.`);
        return [entry, checker.getExportsOfModule(module).map((name) => declarationOf(name, checker))];
      }),
    );
  } finally {
    compiler.close();
  }
}

/** The source of shipped types: those of `dist/types/x.d.ts` come from `src/x.ts`. */
function sourceOf(types: string): string {
  return join(ROOT, types.replace('./dist/types/', 'src/').replace(/\.d\.ts$/, '.ts'));
}

function declarationOf(exported: TypeScriptSymbol, checker: Checker): Declared {
  const symbol = exported.flags & SymbolFlags.Alias ? checker.getAliasedSymbol(exported) : exported;
  const isDocumented = (one: TypeScriptSymbol): boolean => one.getDocumentationComment(checker).trim() !== '';
  const hasMembers = symbol.flags & (SymbolFlags.Interface | SymbolFlags.Class);
  const members = hasMembers ? checker.getPropertiesOfType(checker.getDeclaredTypeOfSymbol(symbol)) : [];
  return {
    name: exported.name,
    documented: isDocumented(symbol),
    members: members.filter(isOurs).map((one) => ({ name: one.name, documented: isDocumented(one) })),
  };
}

/** Not inherited from a class of the language, such as Error. */
function isOurs({ declarations }: TypeScriptSymbol): boolean {
  return declarations.some(({ path }) => String(path).startsWith(join(ROOT, 'src')));
}
