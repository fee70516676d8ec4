// No write transaction processes a whole text: all other writers wait for its lock, and an agent's text may be a megabyte long.
// A function runs in a write transaction if it is passed to `store.write`, takes a `WriteTx` or a `HookContext`, or is named
// by such a function. None of them may name, even indirectly, a function that reads through a text.
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parseSync } from '@swc/core';

/** The functions that read through a text, character by character: some functions of a file, or all of them. */
const TEXT_WORK = new Map([
  // `isBlank` stops at the first visible character, `isHidden` looks at one character.
  [
    'domain/display.ts',
    ['hasAsciiTwin', 'skeletonOf', 'revealed', 'revealedSource', 'spelledOut', 'spelledLine', 'shownWithin'],
  ],
  ['domain/edits.ts', null],
  ['domain/mention-parser.ts', ['parseMentions']],
  ['domain/permission-rules.ts', ['readRules', 'rulesForTool']],
  ['domain/rules.ts', ['pastCall', 'tryRule', 'draftsFor', 'proposeRules']],
  ['domain/shell-words.ts', null],
]);
/** Functions that read a short text, or cut one before they read through it. */
const BOUNDED = new Map([
  // The first heading in the details of a permission, which have at most `DETAILS_BYTES`.
  ['domain/edits.ts', ['fileHeaded']],
  // The first line of a call: 1,200 characters.
  ['domain/shown-calls.ts', ['firstLine']],
  // A handle or a title: 200 characters.
  ['domain/names.ts', ['titleKey', 'lookOf']],
]);
const TRANSACTIONS = new Set(['WriteTx', 'HookContext']);
const PATTERN_PARTS = ['pat', 'argument', 'elements', 'properties', 'value'];
const WRITES = new Set(['write', 'writeUnflushed']);

const source = join(process.argv[2] ?? join(import.meta.dirname, '..'), 'src');

/** By path below `src`: imports, functions by name, and the other declarations. */
const modules = new Map();
for (const entry of readdirSync(source, { recursive: true, withFileTypes: true }))
  if (entry.isFile() && entry.name.endsWith('.ts')) {
    const path = join(entry.parentPath, entry.name);
    modules.set(path.slice(source.length + 1), readModule(path));
  }

const problems = new Set();
const known = new Map();
for (const { functions } of modules.values()) {
  for (const one of functions) {
    if (!one.runsInTransaction) continue;
    const way = wayToText(one);
    if (way !== null) problems.add(way.join(' → '));
  }
}
if (problems.size > 0) {
  console.error(
    [...problems]
      .sort()
      .concat(
        'These run in a write transaction and read through a text. Do that before `store.write`, and pass the result.',
      )
      .join('\n'),
  );
  process.exitCode = 1;
}

/** The names from a function to one that reads through a text; null if there are none. */
function wayToText(one) {
  if (isIn(BOUNDED, one)) return null;
  if (isIn(TEXT_WORK, one)) return [one.label];
  if (known.has(one)) return known.get(one);
  // A circle leads nowhere new.
  known.set(one, null);
  let shortest = null;
  // A function made inside of another runs together with that one, unless it is given to a transaction of its own.
  for (const found of [...one.closures, ...Array.from(one.names, (name) => resolve(one, name))]) {
    const way = found === null || found === one ? null : wayToText(found);
    if (way !== null && (shortest === null || way.length < shortest.length)) shortest = way;
  }
  const way = shortest === null ? null : [one.label, ...shortest];
  known.set(one, way);
  return way;
}

function isIn(list, { module, own }) {
  const functions = list.get(module);
  return functions === null || functions?.includes(own) === true;
}

/** The function that a name means inside of another one. */
function resolve(from, name) {
  for (let scope = from; scope !== null && scope.parent !== null; scope = scope.parent)
    if (scope.inner.has(name)) return scope.inner.get(name);
    else if (scope.locals.has(name)) return null;
  const { topLevel, imports } = modules.get(from.module);
  if (topLevel.has(name)) return topLevel.get(name);
  const imported = imports.get(name);
  return imported === undefined ? null : (modules.get(imported.module)?.topLevel.get(imported.name) ?? null);
}

function readModule(path) {
  const name = path.slice(source.length + 1);
  const program = parseSync(readFileSync(path, 'utf8'), { syntax: 'typescript' });
  const imports = new Map();
  const functions = [];
  const top = scopeOf(name, name, null);
  for (const item of program.body) {
    if (item.type === 'ImportDeclaration' && item.source.value.startsWith('.') && !item.typeOnly)
      for (const { local, imported, isTypeOnly } of item.specifiers)
        if (isTypeOnly !== true)
          imports.set(local.value, {
            module: join(dirname(name), item.source.value),
            name: imported?.value ?? local.value,
          });
  }
  visit(program.body, top, null);
  return { imports, functions, topLevel: top.inner };

  function visit(node, scope, named) {
    if (Array.isArray(node)) {
      for (const one of node) visit(one, scope, null);
      return;
    }
    if (node === null || typeof node !== 'object') return;
    switch (node.type) {
      case 'ImportDeclaration':
      case 'TsTypeAnnotation':
      case 'TsTypeAliasDeclaration':
      case 'TsInterfaceDeclaration':
        return;
      case 'FunctionDeclaration':
      case 'FunctionExpression':
      case 'ArrowFunctionExpression':
      case 'MethodProperty':
      case 'ClassMethod':
        visitFunction(node, scope, node.identifier?.value ?? node.key?.value ?? named);
        return;
      case 'VariableDeclarator': {
        const lazy = importedIn(node.init);
        if (lazy !== null && node.id.type === 'ObjectPattern')
          for (const { key } of node.id.properties) importLazily(key.value, lazy);
        else namesIn(node.id, scope.locals);
        const type = typesIn(node.id.typeAnnotation);
        const own = node.id.type === 'Identifier' ? node.id.value : null;
        if (own !== null && node.init !== null && type.has('HookHandler') && isFunction(node.init))
          visitFunction(node.init, scope, own, true);
        else if (own !== null && node.init !== null) visitConstant(node.init, scope, own);
        else visit(node.init, scope, own);
        return;
      }
      case 'CallExpression': {
        visit(node.callee, scope, null);
        const isWrite = isStoreWrite(node.callee);
        for (const { expression } of node.arguments) {
          if (isWrite && isFunction(expression)) visitFunction(expression, scope, 'store.write', true);
          else if (isWrite && expression.type === 'Identifier') {
            const passed = scopeOf(name, `${scope.label}: store.write`, scope);
            passed.runsInTransaction = true;
            passed.names.add(expression.value);
            functions.push(passed);
          } else visit(expression, scope, null);
        }
        return;
      }
      case 'MemberExpression': {
        const lazy = importedIn(node.object);
        if (lazy !== null) {
          importLazily(node.property.value, lazy);
          scope.names.add(node.property.value);
        }
        visit(node.object, scope, null);
        if (node.property.type === 'Computed') visit(node.property, scope, null);
        return;
      }
      case 'KeyValueProperty':
        visit(node.value, scope, node.key.value);
        return;
      case 'Identifier':
        scope.names.add(node.value);
        return;
      default:
        for (const [key, value] of Object.entries(node)) if (key !== 'span') visit(value, scope, null);
    }
  }

  function importLazily(own, from) {
    imports.set(own, { module: join(dirname(name), from), name: own });
  }

  /** A constant that is not a function, such as one made from functions, counts as the functions that it names. */
  function visitConstant(init, scope, own) {
    if (isFunction(init)) return visitFunction(init, scope, own);
    if (scope !== top) return visit(init, scope, own);
    const constant = scopeOf(name, `${name}: ${own}`, scope);
    top.inner.set(own, constant);
    visit(init, constant, own);
  }

  function visitFunction(given, scope, own, isGiven = false) {
    const node = given.function ?? given;
    const one = { ...scopeOf(name, `${name}: ${own ?? 'a function'}`, scope), own };
    if (own !== null && own !== undefined && own !== 'store.write') scope.inner.set(own, one);
    else if (!isGiven) scope.closures.push(one);
    const types = new Set(node.params.flatMap((param) => [...typesIn(param)]));
    one.runsInTransaction = isGiven || [...types].some((type) => TRANSACTIONS.has(type));
    functions.push(one);
    namesIn(node.params, one.locals);
    visit(node.params, one, null);
    visit(node.body, one, null);
  }
}

function scopeOf(module, label, parent) {
  return {
    module,
    label,
    parent,
    names: new Set(),
    inner: new Map(),
    /** Parameters and variables. */
    locals: new Set(),
    closures: [],
    runsInTransaction: false,
  };
}

/** The file of `await import('…')`, in parentheses or not. */
function importedIn(node) {
  const inner = node?.type === 'ParenthesisExpression' ? node.expression : node;
  const call = inner?.type === 'AwaitExpression' ? inner.argument : inner;
  if (call?.type !== 'CallExpression' || call.callee.type !== 'Import') return null;
  return call.arguments[0]?.expression.value ?? null;
}

function isFunction({ type }) {
  return type === 'ArrowFunctionExpression' || type === 'FunctionExpression';
}

/** `store.write(…)`, also as a part of an expression. */
function isStoreWrite(callee) {
  if (callee.type !== 'MemberExpression' || !WRITES.has(callee.property.value)) return false;
  const { object } = callee;
  return (object.type === 'MemberExpression' ? object.property.value : object.value) === 'store';
}

/** The names that a pattern binds. */
function namesIn(node, found) {
  if (Array.isArray(node)) for (const one of node) namesIn(one, found);
  else if (node?.type === 'Identifier') found.add(node.value);
  else if (node?.type === 'AssignmentPattern') namesIn(node.left, found);
  else if (node?.type === 'AssignmentPatternProperty') found.add(node.key.value);
  else for (const part of PATTERN_PARTS) if (node?.[part] !== undefined) namesIn(node[part], found);
}

/** The names of types in an annotation. */
function typesIn(node, found = new Set()) {
  if (Array.isArray(node)) for (const one of node) typesIn(one, found);
  else if (node !== null && typeof node === 'object') {
    if (node.type === 'TsTypeReference' && node.typeName.type === 'Identifier')
      found.add(node.typeName.value);
    for (const [key, value] of Object.entries(node)) if (key !== 'span') typesIn(value, found);
  }
  return found;
}
