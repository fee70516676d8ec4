/**
 * Decides which commands a permission rule allows. Commands are compared word by word, as every shell reads them. Syntax that
 * only some shells understand is not allowed, nor is a star whose match a program would read as another program or as code.
 */
import { hasAsciiTwin } from './display.ts';
import { fill } from './patterns.ts';
import { absolute, isInside, isPathAllowed, leadsTo, NOWHERE, type Place } from './places.ts';
import { isAssignment, KEYWORDS, type ShellPart, type ShellWord, shellParts } from './shell-words.ts';

/** Whether a rule begins with a folder and a star, so that its program may be any file in that folder. */
export function runsFromFolder(pattern: string): boolean {
  const parts = shellParts(pattern, { stars: true }) ?? [];
  return commandsOf(parts).some((words) => {
    const { pieces: [first = '', ...stars] = [] } = words[programAt(words)] ?? {};
    return stars.length > 0 && isFolderNamed(first);
  });
}

/** Whether a rule with this pattern allows a command that runs in this place. */
export function isCommandAllowed(pattern: string, command: string, place: Place): boolean {
  // A command that the rule spells out in full is allowed as written, however a shell reads it.
  if (pattern === command && !pattern.includes('*')) return true;
  const wanted = shellParts(pattern, { stars: true });
  const given = shellParts(command);
  if (wanted === null || given === null) return false;
  if (!hasStar(wanted)) return isLineAllowed(wanted, given, place);
  return (
    beginPlainly(wanted) && linesWithout(given, place).some((line) => isLineAllowed(wanted, line, place))
  );
}

function isLineAllowed(wanted: readonly ShellPart[], given: readonly ShellPart[], place: Place): boolean {
  if (wanted.length !== given.length || (hasStar(wanted) && !beginPlainly(given))) return false;
  const [commands, others] = [commandsOf(wanted), commandsOf(given)];
  const readers = commandsWithInput(wanted);
  // A `cd` may fail, so the rest must be allowed in each directory in which it might run.
  let places: readonly Place[] = [place, ...placesOfValues(place, new Set(others))];
  return wanted.every((part, index) => {
    const other = given[index];
    const words = commands[index] ?? [];
    if (other === undefined || part.operator !== other.operator) return false;
    // `'A=./b' npm test` sets no variable: it runs a program of that name.
    if (programAt(words) !== programAt(others[index] ?? [])) return false;
    if (part.words.some(({ means }, at) => means === 'keyword' && other.words[at]?.means !== means))
      return false;
    const isCommand = !followsRedirection(wanted, index);
    if (isCommand && !isTameProgram(readers[index] ?? [], other.words)) return false;
    const inside = placesAfter(places, words, CHANGES_IN_PART);
    const isAllowed = inside.every((one) => isPartAllowed(part, other, { ...one, isCommand }));
    if (isCommand) places = placesAfterCommand(places, words);
    return isAllowed;
  });
}

/**
 * A command line, followed by shorter forms without parts that do not change what runs: first without `cd DIR &&` with the
 * agent's own directory, then without each of the last parts such as `2>&1` and `| tail -20`. The longest line comes first.
 */
export function linesWithout(given: readonly ShellPart[], place: Place): (readonly ShellPart[])[] {
  const lines: (readonly ShellPart[])[] = [given];
  const [first] = given;
  if (first !== undefined && staysInPlace(first, place)) lines.push(given.slice(1));
  return lines.flatMap((line) => {
    const shorter = [line];
    for (let rest = line; endsTamely(rest); ) {
      rest = [...rest.slice(0, -2), ...rest.slice(-2, -1).map(({ words }) => ({ words, operator: null }))];
      shorter.push(rest);
    }
    return shorter;
  });
}

/**
 * Whether this is `cd DIR &&` with the directory in which the command runs anyway. Only an absolute path is independent of
 * CDPATH.
 */
function staysInPlace({ words, operator }: ShellPart, { cwd, resolve }: Place): boolean {
  const [program, folder = ''] = textsOf(words);
  if (program !== 'cd' || words.length !== 2 || operator !== '&&' || cwd === null) return false;
  return folder.startsWith('/') && leadsTo(folder, { cwd, resolve }) === cwd;
}

/** Whether the last part only redirects messages or selects lines of the output. */
function endsTamely(parts: readonly ShellPart[]): boolean {
  const operator = parts.at(-2)?.operator ?? '';
  const [first = '', ...more] = textsOf(parts.at(-1)?.words ?? []);
  const rest = more.join(' ');
  if (/^[12]?>&$/.test(operator)) return more.length === 0 && /^[12]$/.test(first);
  if (/^[12]?>$/.test(operator)) return more.length === 0 && first === '/dev/null';
  if (operator !== '|') return false;
  if (first === 'head' || first === 'tail') return /^(?:-(?:n ?)?\d+)?$/.test(rest);
  if (first === 'grep')
    return more.filter((word) => !/^-[EFcinovwx]+$/.test(word)).length === 1 && !more.at(-1)?.startsWith('-');
  return first === 'wc' && rest === '-l';
}

function textsOf(words: readonly ShellWord[]): string[] {
  return words.map(({ pieces }) => pieces[0] ?? '');
}

/** The index of the program among the words of a command: after its variables. */
function programAt(words: readonly ShellWord[]): number {
  return words.findIndex(({ means }) => means !== 'variable');
}

/** Whether the program that a star matches does not run what another star matches: `* run *` does not allow `uv run x`. */
function isTameProgram(wanted: readonly ShellWord[], given: readonly ShellWord[]): boolean {
  const at = programAt(wanted);
  if ((wanted[at]?.pieces.length ?? 1) === 1) return true;
  const program = given[at];
  return program !== undefined && programWithOpenCode(wanted.with(at, program)) === null;
}

/** Whether a word of a rule has a star. */
export function hasStar(parts: readonly ShellPart[]): boolean {
  return parts.some(({ words }) => words.some(({ pieces }) => pieces.length > 1));
}

function isRedirection(operator: string | null): boolean {
  return operator !== null && /[<>]/.test(operator);
}

/** Whether a part begins with the file of a redirection; the rest of the command's words may follow it. */
function followsRedirection(parts: readonly ShellPart[], index: number): boolean {
  return isRedirection(parts[index - 1]?.operator ?? null);
}

/** The command of each part, without the files of its redirections: `git -C src > log add *` becomes `git -C src add *`. */
export function commandsOf(parts: readonly ShellPart[]): readonly (readonly ShellWord[])[] {
  let command: ShellWord[] = [];
  return parts.map(({ words }, index) => {
    const isSame = followsRedirection(parts, index);
    if (!isSame) command = [];
    command.push(...(isSame ? words.slice(1) : words));
    return command;
  });
}

/** The same, with a star for the input of each command that has one: `cat * | sh` and `sh < *` run code as `sh *` does. */
export function commandsWithInput(parts: readonly ShellPart[]): readonly (readonly ShellWord[])[] {
  return commandsOf(parts).map((words, index) => {
    const hasInput =
      parts[index]?.operator?.includes('<') === true || /^\|&?$/.test(parts[index - 1]?.operator ?? '');
    return hasInput && !FILTERS.has(textsOf(words)[0] ?? '') ? [...words, INPUT] : words;
  });
}

const INPUT: ShellWord = { pieces: ['', ''], means: 'name' };
/** Programs that read code, but never from their input. */
const FILTERS = new Set('sed gsed awk gawk mawk nawk jq yq'.split(' '));

/** Whether the program of each command is its first word, with no keyword or redirection before it. */
export function beginPlainly(parts: readonly ShellPart[]): boolean {
  return parts.every(({ words, operator }, index) => {
    // To dash, `a &> log b` is two commands, and the second one is b.
    if (followsRedirection(parts, index))
      return words.length === 1 || !/^&/.test(parts[index - 1]?.operator ?? '');
    if (KEYWORDS.has(words[0]?.pieces[0] ?? '')) return false;
    return !isRedirection(operator) || words.some(({ means }) => means !== 'variable');
  });
}

/** The places after a command that may change the directory. After a word that is not understood, the directory is unknown. */
function placesAfterCommand(places: readonly Place[], words: readonly ShellWord[]): readonly Place[] {
  const changes = ({ pieces }: ShellWord): boolean => CHANGES_DIRECTORY.has(pieces[0] ?? '');
  if (!words.some(changes)) return places;
  const command = words.slice(words.findIndex(({ pieces }) => !BEFORE_BUILTIN.test(pieces[0] ?? '')));
  const [first] = command;
  if (first === undefined || !changes(first)) return [...places, NOWHERE];
  return placesAfter(places, command, CHANGES_DIRECTORY);
}

/** `command -p cd x` and `builtin -- cd x` change the directory, too. */
const BEFORE_BUILTIN = /^(?:command|builtin|-p|--)$/;

/**
 * The folders named by the values of options and variables anywhere in a command line: a program may work in one of them.
 * If git finds its files somewhere else, the place is unknown.
 */
function placesOfValues(place: Place, commands: Iterable<readonly ShellWord[]>): readonly Place[] {
  const found = new Map<string, Place>();
  for (const words of commands)
    for (const [index, { pieces }] of words.entries()) {
      const [word = ''] = pieces;
      const next = words[index + 1]?.pieces[0] ?? '';
      if (FINDS_ELSEWHERE.test(word) || (word === '-c' && FINDS_ELSEWHERE.test(next))) return [NOWHERE];
      const isChange = CHANGES_DIRECTORY.has(word);
      for (const value of isChange ? [next] : valuesOf(word, next)) {
        // `DIR/.` resolves only if DIR is an existing folder.
        const folder = place.cwd === null ? null : place.resolve(`${value}/.`);
        if (folder === null || folder === place.cwd) continue;
        if (isInRepository(folder, place)) return [NOWHERE];
        if (!isChange) found.set(folder, movedTo(place, value));
      }
      if (found.size > MOST_FOLDERS) return [NOWHERE];
    }
  return [...found.values()];
}

/** Whether a folder below the agent's is inside one that git takes for a repository: git runs programs that its settings name. */
function isInRepository(folder: string, { cwd, isRepository }: Place): boolean {
  if (isRepository === undefined) return false;
  for (let one = folder; one !== cwd && one !== ''; one = one.slice(0, one.lastIndexOf('/')))
    if (isRepository(one)) return true;
  return false;
}

const FINDS_ELSEWHERE = /^(?:--git-dir(?:=|$)|GIT_(?:DIR|WORK_TREE|COMMON_DIR)=|core\.worktree=|CDPATH=)/i;
const MOST_FOLDERS = 16;

/** The possible values of an option or variable: after `=`, after its letters, or in the next word. */
function valuesOf(word: string, next: string): string[] {
  const assigned = /^[^=]*=(.+)$/s.exec(word)?.[1];
  if (!word.startsWith('-')) return assigned === undefined ? [] : [assigned];
  if (assigned !== undefined) return [assigned];
  const joined = /^-[^-]+$/s.test(word) ? [word.slice(2), /C(.+)$/s.exec(word)?.[1] ?? ''] : [];
  return [...joined, next].filter((value) => value !== '' && !value.startsWith('-'));
}

const CHANGES_DIRECTORY = new Set(['cd', 'chdir', 'pushd', 'popd']);
/** Options of git, make, npm and others whose value is the directory to work in. */
const CHANGES_IN_PART = new Set(['-C', '--prefix', '--directory', '--cwd', '--dir', '--work-tree']);
const MOST_PLACES = 8;

/** The places in which something may run after these words changed the directory, including the earlier places. */
function placesAfter(
  places: readonly Place[],
  words: readonly ShellWord[],
  changing: ReadonlySet<string>,
): readonly Place[] {
  let found = places;
  words.forEach(({ pieces }, index) => {
    const [word = ''] = pieces;
    const [, option = '', value] = /^(-C|--[a-z-]+=)(.+)?$/s.exec(word) ?? [];
    const isInline =
      option !== '' && (value !== undefined || pieces.length > 1) && changing.has(option.replace(/=$/, ''));
    if (!isInline && !changing.has(word)) return;
    const next = words[index + 1]?.pieces;
    const target = isInline
      ? pieces.length === 1
        ? value
        : undefined
      : next?.length === 1
        ? next[0]
        : undefined;
    // In a directory that the rule leaves open, a star matches no path. A star as the directory itself was checked earlier.
    if (target === undefined && !isInline && changing === CHANGES_IN_PART) {
      if (words.filter((one) => one.pieces.length > 1).length <= 1) return;
    }
    found = found.length > MOST_PLACES ? [NOWHERE] : [...found, ...found.map((one) => movedTo(one, target))];
  });
  return found;
}

function movedTo({ cwd, resolve }: Place, target: string | undefined): Place {
  if (target === undefined || /^[-~+]|^$/.test(target)) return NOWHERE;
  const moved = cwd === null ? null : leadsTo(target, { cwd, resolve });
  // A link out of the directory may lead anywhere, whatever name the rule gives it.
  const written = absolute(target.replace(/\/+$/, ''), cwd)?.join('/');
  if (cwd === null || moved === null || !(moved === `/${written}` || isInside(cwd, moved))) return NOWHERE;
  return { cwd: moved, resolve: (path) => resolve(path.startsWith('/') ? path : `${moved}/${path}`) };
}

/**
 * `isCommand`: the first word is a program, not the file of a redirection. `isText`: the program takes this word as text,
 * whatever its contents. `isOfGo`: the program is Go.
 */
type WordPlace = Place & { isCommand: boolean; isText?: boolean; isOfGo?: boolean };

function isPartAllowed(
  { words: wanted, operator }: ShellPart,
  { words: given }: ShellPart,
  place: WordPlace,
): boolean {
  const last = wanted.at(-1);
  const takesMore = last !== undefined && place.isCommand && goesOn(last, wanted.length === 1);
  if (given.length < wanted.length || (given.length > wanted.length && !takesMore)) return false;
  const texts = textsOf(given);
  const program = place.isCommand ? programAt(wanted) : -1;
  const isOfGo = texts[program] === 'go';
  // The words that `echo` prints into a pipe are words again to the next program: `echo * | xargs rm`.
  const mayBeText = place.isCommand && !(texts[0] === 'echo' && operator?.startsWith('|') === true);
  return texts.every((text, index) => {
    const pattern = wanted[index] ?? (isOfOptions(last) ? last : undefined);
    const isText = mayBeText && takesText(texts, index);
    if (pattern === undefined) return isPlainArgument(text, text, { ...place, isText, isOfGo });
    return isWordAllowed(pattern, text, { ...place, isText, isOfGo, isCommand: index === program });
  });
}

const endsAName = (text: string): boolean => /[\p{L}\p{N}]$/u.test(text);

/** Whether a word of a rule is `-*` or `--*`: at the end of a command, it stands for any number of options. */
function isOfOptions(word: ShellWord | undefined): boolean {
  return word?.pieces.length === 2 && /^--?$/.test(word.pieces[0] ?? '') && word.pieces[1] === '';
}

/** Whether further words may follow: after `npm test *`, `npm test*` and, only options, `ls -*`; not after `cat src/*`. */
function goesOn(word: ShellWord, isOnly: boolean): boolean {
  const { pieces } = word;
  const [first = '', last] = pieces;
  if (isOfOptions(word)) return true;
  if (pieces.length !== 2 || last !== '') return false;
  return first === '' ? !isOnly : !/[/=]/.test(first) && endsAName(first);
}

function isWordAllowed({ pieces }: ShellWord, text: string, place: WordPlace): boolean {
  const [first = ''] = pieces;
  if (pieces.length === 1) return text === first;
  const filled = fill(pieces, text);
  if (isFolderNamed(first)) {
    // The rule may spell out characters that no plain path contains: `@types/*`, `https://example.org/*`.
    const isPlain = isPlainPath(text) || (filled?.every(isPlainFragment) === true && !/^[-+]/.test(text));
    return isPlain && isPathAllowed(pieces, text, place);
  }
  if (filled === null) return false;
  if (place.isCommand) return isProgramAllowed(pieces, text);
  // If the star matches nothing, the rule spells out the whole word.
  if (first !== '' && filled.every((part) => part === '')) return true;
  if (first === '')
    return isPlainArgument(text, filled.join(''), place) || isPlainAround(text, filled, place);
  // `git log*` is the word `log` and what follows it: not `logs`, `log-evil` or `log:evil`.
  if (!first.includes('=') && endsAName(first)) return false;
  if (first.startsWith('-') && !first.includes('=')) return isOption(text, place);
  return filled.every(isPlainFragment) && isWithinFolder([text, ...filled], place);
}

/** A star never matches the path of a program; after a program's name it matches what follows. */
function isProgramAllowed(pieces: readonly string[], text: string): boolean {
  return (
    pieces.length === 2 &&
    (pieces.every((piece) => piece === '') ? /^\w[\w.+-]*$/.test(text) : pieces[0] === text)
  );
}

function isFolderNamed(first: string): boolean {
  return first.includes('/') && !/^-|=/.test(first);
}

// This lists what a star may match rather than what it may not, because each program gives `=`, `:`, `@`, `+`, spaces and
// quotes its own meaning. A plain word is a name, a number, a path or a git revision, and hardly any program reads more
// into it. The programs that do are listed below.

// Compiling an expression with Unicode classes takes up to a millisecond, so functions compile them when needed: most hooks
// have no rule.

function isPlainWord(text: string): boolean {
  return /^(?:\.\/?|(?:\.?\/)?[\p{L}\p{N}_][\p{L}\p{M}\p{N}_.+-]*(?:\/[\p{L}\p{N}_][\p{L}\p{M}\p{N}_.+-]*)*\/?(?:[~^]+\p{N}*)*)$/u.test(
    text,
  );
}

/** Characters that a star may match within a word whose beginning the rule spells out. */
function isPlainFragment(text: string): boolean {
  return /^[\p{L}\p{M}\p{N}_./+-]*$/u.test(text) && !hasAsciiTwin(text);
}

/**
 * A path in a folder that the rule names. Most programs take a word that begins with `-` or `+` for an option, even if such a
 * folder exists.
 */
function isPlainPath(text: string): boolean {
  return /^(?![-+])[\p{L}\p{M}\p{N}_./+, -]+$/u.test(text) && !hasAsciiTwin(text);
}

/** Whether a star may match a word: it must be plain, and must not lead out of the directory in which the agent works. */
function isPlainArgument(text: string, filled: string, place: WordPlace): boolean {
  if (place.isText === true) return isText(text, place);
  // To Go, `src/...` is all that the folder src contains, even if it contains a file called `...`.
  const [word = '', part = ''] = [text, filled].map((one) =>
    place.isOfGo === true ? one.replace(/\/\.{3}$/, '') : one,
  );
  return isPlainWord(word) && !hasAsciiTwin(word) && isWithinFolder([word, part], place);
}

/** The same for a word whose middle or end the rule spells out, with any characters: `*:src/a.ts`. */
function isPlainAround(text: string, [begin = '', ...more]: readonly string[], place: WordPlace): boolean {
  return (
    place.isText !== true &&
    isPlainWord(begin) &&
    !hasAsciiTwin(begin) &&
    more.every(isPlainFragment) &&
    isWithinFolder([text, begin, ...more], place)
  );
}

/** Whether a star may match the rest of an option. Without a `=`, it is unknown where the option's value begins. */
function isOption(text: string, place: WordPlace): boolean {
  if (/^--?[A-Za-z0-9][\w-]*$/.test(text)) return true;
  const value = /^--?[A-Za-z0-9][\w-]*=(.+)$/s.exec(text)?.[1];
  return value !== undefined && isPlainArgument(value, value, { ...place, isText: false });
}

const MOST_PARTS = 32;

/** Whether no part of a word leads out of the directory in which the agent works, however a program splits the word. */
function isWithinFolder(texts: readonly string[], { cwd, resolve }: Place): boolean {
  // Nothing leads out of the root directory, so there a star matches no path.
  if (cwd === null || cwd === '/') return false;
  const parts = new Set(texts.flatMap((text) => [text, ...text.split(/[=:,@]/)]));
  if (parts.size > MOST_PARTS) return false;
  return [...parts].every((part) => {
    if (part === '') return true;
    if (part.startsWith('~')) return false;
    const real = leadsTo(part, { cwd, resolve });
    return real !== null && isInside(cwd, real);
  });
}

/** Programs that take a word as text: either all of their words, or the word after one of these options. */
const TAKES_TEXT: ReadonlyMap<string, readonly string[] | 'all'> = new Map(
  Object.entries({
    git: ['-m', '--message'],
    gh: ['-t', '--title', '-b', '--body'],
    jest: ['-t'],
    vitest: ['-t'],
    grep: 'all',
    rg: 'all',
    echo: 'all',
  } as const),
);

function takesText(words: readonly string[], index: number): boolean {
  const where = TAKES_TEXT.get(words[0] ?? '');
  return where === 'all' || (where?.includes(words[index - 1] ?? '') ?? false);
}

/** Quoted text may contain anything, but must not be an option, and any file that it might name must be in the directory. */
function isText(text: string, place: Place): boolean {
  return text !== '' && !/^\s*-/.test(text) && isWithinFolder([text], place);
}

// In a rule for one of the following programs a star comes only after the program or the code that they run:
// `timeout 60 npm test *`, `sed -n 1,9p *`, `node scripts/build.mjs *`.

/**
 * These programs run their first word or the file that it names, or read options from it. A star in a folder that the rule
 * names matches a file.
 */
const RUNS_A_WORD = new Set(
  (
    'env nice ionice nohup setsid timeout time stdbuf command builtin exec xargs npx bunx pnpx uvx pipx ' +
    'strace ltrace valgrind unbuffer chrt hyperfine fakeroot fakechroot eatmydata chronic rlwrap caffeinate cross-env nodemon ' +
    'xvfb-run dbus-run-session dbus-launch gosu su-exec tini dumb-init prlimit cpulimit ' +
    'linux32 linux64 torsocks proxychains watchexec toybox ' +
    'sh ash bash rbash dash zsh ksh mksh csh tcsh yash fish busybox python pypy node nodejs tsx ts-node vite-node zx deno bun ' +
    'perl ruby jruby php lua luajit groovy dart tclsh wish expect ' +
    'Rscript julia guile java osascript pwsh source . vi vim nvim emacs gdb lldb tar bsdtar ar'
  ).split(' '),
);
/** These subcommands do the same with the word after them: `npm exec *` is `npx *`. */
const RUNS_A_WORD_AFTER = new Set(
  (
    'npm exec,npm x,pnpm exec,pnpm dlx,yarn exec,yarn dlx,bun x,bun run,deno run,pipx run,uv run,poetry run,pipenv run,' +
    'pdm run,hatch run,conda run,bundle exec,coverage run,perf stat,perf record,perf trace,mise exec,mise x,asdf exec,' +
    'rbenv exec,pyenv exec,opam exec,stack exec,cabal exec,nix run,nix shell,nix develop,' +
    'npm explore,composer exec,volta run,fnm exec,nvm exec,op run,doppler run'
  ).split(','),
);
/** Of those, the ones that read `-p PACKAGE`, as subcommands read `perf stat -e EVENT`. To the others, `-e` and `-p` take no word. */
const TAKES_PACKAGE = new Set('npx bunx pnpx uvx pipx'.split(' '));
/** Programs whose first word is code. */
const READS_CODE = new Set('sed gsed awk gawk mawk nawk jq yq dc bc m4 ex ed'.split(' '));
/** Programs for which an option after the first word may also name a program or be code. */
const READS_OPTIONS_LATE = new Set([
  ...READS_CODE,
  'tar',
  'bsdtar',
  'vi',
  'vim',
  'nvim',
  'emacs',
  'gdb',
  'lldb',
]);
/** Programs that run another program, which any of their words may name. */
const RUNS_ANY_WORD = new Set(
  (
    'sudo doas su runuser pkexec ssh watch eval parallel script tmux screen at batch crontab trap alias systemd-run nsenter unshare ' +
    'chroot flock docker podman kubectl taskset faketime setpriv runcon sg firejail bwrap proot entr concurrently ' +
    'direnv dotenv rustup nix-shell sshpass nerdctl setarch aws-vault chamber'
  ).split(' '),
);

/**
 * Words of a program that are followed by another program, or by a file with commands, which it runs: `find src -exec *`,
 * `git bisect run *`, `make -f *`.
 */
const RUNS_WHAT_FOLLOWS: ReadonlyMap<string, readonly string[]> = new Map([
  ['find', ['-exec', '-execdir', '-ok', '-okdir']],
  ['fd', ['-x', '-X', '--exec', '--exec-batch']],
  ['git', ['run', 'foreach', '--exec']],
  ['go', ['run', '-exec', '--exec', '-toolexec', '--toolexec']],
  ['cargo', ['-x', '--exec', '-s', '--shell']],
  ['nix', ['-c', '--command']],
  ['cmake', ['-P', '-E']],
  ['make', ['-f', '--file', '--makefile']],
  ['gmake', ['-f', '--file', '--makefile']],
  ['ninja', ['-f']],
  ['rake', ['-f', '--rakefile']],
  ['just', ['-f', '--justfile']],
  ['task', ['-t', '--taskfile']],
]);

/** Whether the program runs what a star in such a word, or in the next one, matches: `go run*`, `git rebase --exec=*`, `make -f *`. */
function isRunByStar(words: readonly ShellWord[], at: number, follows: readonly string[]): boolean {
  const { pieces: [first = '', ...stars] = [] } = words[at] ?? {};
  if (stars.length === 0) return false;
  const before = words[at - 1]?.pieces[0] ?? '';
  return follows.includes(first.replace(/=.*/s, '')) || (follows.includes(before) && !isFolderNamed(first));
}

/** Where, among the words of a command, the command may begin that its program runs: `timeout 60 *`, `find src -exec sh *`. */
export function commandStarts(words: readonly string[]): number[] {
  const starts: number[] = [];
  let [start, program] = [0, programIn(words[0])];
  for (let at = 1; at < words.length - 1; at += 1) {
    if (RUNS_WHAT_FOLLOWS.get(program)?.includes(words[at] ?? '') !== true) continue;
    [start, program] = [at + 1, programIn(words[at + 1])];
    starts.push(start);
  }
  const runs = isKnown(RUNS_A_WORD, program) || isKnown(RUNS_ANY_WORD, program);
  const first = runs ? start + 1 : (behindSubcommand(program, words, start) ?? words.length);
  return [...starts, ...words.map((_, at) => at).slice(first)];
}

/** The name of a program, without its folder. */
function programIn(word = ''): string {
  return word.replace(/^.*\//s, '');
}

function isKnown(programs: ReadonlySet<string>, program: string): boolean {
  return programs.has(program) || programs.has(unversioned(program));
}

/** The program in a rule's command that could read what a star matches as a program or as code; null if none could. */
export function programWithOpenCode(words: readonly ShellWord[]): string | null {
  const texts = textsOf(words);
  const wordWithStar = (start: number, files: boolean): number =>
    words.findIndex(
      ({ pieces }, at) => at >= start && pieces.length > 1 && (files || !isFolderNamed(pieces[0] ?? '')),
    );
  for (let at = 0; at < words.length; ) {
    const written = texts[at] ?? '';
    if (isAssignment(written)) {
      // Many variables name a program: GIT_SSH_COMMAND, PAGER.
      if ((words[at]?.pieces.length ?? 0) > 1) return written;
      at += 1;
      continue;
    }
    const program = programIn(written);
    const isIn = (known: ReadonlySet<string>): boolean => isKnown(known, program);
    const follows = RUNS_WHAT_FOLLOWS.get(program) ?? [];
    if (words.some((_, index) => index > at && isRunByStar(words, index, follows))) return program;
    const before_next = texts.findIndex((text, index) => index > at && follows.includes(text));
    if (before_next !== -1) {
      at = before_next + 1;
      continue;
    }
    const behind = behindSubcommand(program, texts, at);
    if (behind === null && !(isIn(RUNS_A_WORD) || isIn(READS_CODE) || isIn(RUNS_ANY_WORD))) return null;
    const found = wordWithStar(at, isIn(READS_CODE) || isIn(RUNS_ANY_WORD));
    const [word, named = ''] = [words[found], texts[found]];
    if (word === undefined) return null;
    if (isIn(RUNS_ANY_WORD)) return program;
    // `pytest*` is the word `pytest`, and the star is what follows it.
    const isName = named !== '' && goesOn(word, false);
    const star = isName ? found + 1 : found;
    if (isName && named.startsWith('-') && isIn(READS_OPTIONS_LATE)) return program;
    const before = isName && !named.startsWith('-') ? named : (texts[found - 1] ?? '');
    // The next word is the program that it runs, unless an option may have taken that word.
    at = behind ?? at + 1;
    const takesWord = behind !== null || TAKES_PACKAGE.has(program);
    while (
      at < star &&
      isBesideTheProgram(texts[at] ?? '') &&
      !(takesWord && /^-[ep]$/.test(texts[at] ?? ''))
    )
      at += 1;
    if (at >= star || (texts[at] ?? '').startsWith('-') || before.startsWith('-')) return program;
  }
  return null;
}

/**
 * The index of the word that a subcommand such as `npm exec` runs; null for any other subcommand. Options before it may take a
 * word.
 */
function behindSubcommand(program: string, texts: readonly string[], at: number): number | null {
  let next = at + 1;
  while (texts[next]?.startsWith('-') === true) next += 1;
  const places = next === at + 1 ? [next] : [next, next + 1];
  const found = places.find((place) => RUNS_A_WORD_AFTER.has(`${program} ${texts[place]}`));
  return found === undefined ? null : found + 1;
}

/** A program's name without its version: `python` for `python3.12`, `bash` for `bash-5.2`. */
function unversioned(program: string): string {
  return program.replace(/-?\d[\d.]*$/, '');
}

/**
 * Whether a word is a variable, a number, or an option that takes no word: `env A=b`, `timeout 10s`, `sed -n`, `python -m
 * pytest`.
 */
function isBesideTheProgram(word: string): boolean {
  return isAssignment(word) || /^(?:[\d.]+[smhd]?|-[a-z]?\d+|-[ioe]L|-[0eimnpvz]|--)$/.test(word);
}
