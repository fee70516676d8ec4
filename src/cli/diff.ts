/** What an edit changes, line by line, as a person reads it before saying yes. */

const CONTEXT = 2;

type Line = readonly [sign: ' ' | '-' | '+', text: string];

/** The changed lines with a little of what stands around them; null stands for no file. */
export function diffLines(before: string | null, after: string | null): string[] {
  const lines = compare(linesOf(before), linesOf(after));
  const isNear = lines.map((_line, n) =>
    lines.slice(Math.max(0, n - CONTEXT), n + CONTEXT + 1).some(([sign]) => sign !== ' '),
  );
  const shown: string[] = [];
  for (const [n, [sign, text]] of lines.entries()) {
    if (isNear[n] === true) shown.push(`${sign} ${text}`);
    else if (isNear[n - 1] === true || n === 0) shown.push('  ⋮');
  }
  return shown;
}

/** Whoever added is found by looking ahead for the next line that both have: edits of ours are few and mostly add. */
function compare(before: readonly string[], after: readonly string[]): Line[] {
  const lines: Line[] = [];
  let old = 0;
  let now = 0;
  while (old < before.length || now < after.length) {
    const [was, is] = [before[old], after[now]];
    if (was !== undefined && was === is) {
      lines.push([' ', was]);
      old += 1;
      now += 1;
      continue;
    }
    const back = is === undefined ? -1 : before.indexOf(is, old);
    const ahead = was === undefined ? -1 : after.indexOf(was, now);
    const isAddition = is !== undefined && (back < 0 || (ahead >= 0 && ahead - now <= back - old));
    if (isAddition) {
      lines.push(['+', is]);
      now += 1;
    } else {
      lines.push(['-', was ?? '']);
      old += 1;
    }
  }
  return lines;
}

function linesOf(text: string | null): string[] {
  if (text === null) return [];
  const lines = text.split(/\r?\n/);
  if (lines.at(-1) === '') lines.pop();
  return lines;
}
