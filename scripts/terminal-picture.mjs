// Draws what a terminal shows, as tmux paints it with escape sequences, by ImageMagick.
import { execFileSync } from 'node:child_process';

const CELL = { width: 9, height: 19 };
const FONT = '/usr/share/fonts/truetype/dejavu/DejaVuSansMono';
const PALETTE = ['#000000', '#b21818', '#1a7f37', '#9a6700', '#1f5fbf', '#8250df', '#0b7285', '#d0d7de'];
const BRIGHT = ['#57606a', '#cf222e', '#2da44e', '#bf8700', '#218bff', '#a475f9', '#3192aa', '#ffffff'];
/** The colours of the terminal where Emacs sets none. */
export const LIGHT = { ink: '#1f2328', paper: '#ffffff' };
export const DARK = { ink: '#e6edf3', paper: '#0d1117' };

/** One of the 256 colours. */
function indexed(n) {
  if (n < 8) return PALETTE[n];
  if (n < 16) return BRIGHT[n - 8];
  const level = (step) => (step === 0 ? 0 : 55 + 40 * step);
  const grey = 8 + 10 * (n - 232);
  const [r, g, b] =
    n >= 232
      ? [grey, grey, grey]
      : [Math.floor((n - 16) / 36), Math.floor((n - 16) / 6) % 6, (n - 16) % 6].map(level);
  return `rgb(${r},${g},${b})`;
}

/** The colours after one escape sequence. */
function turned(pen, codes) {
  const next = { ...pen };
  for (let i = 0; i < codes.length; i += 1) {
    const code = codes[i];
    if (code === 0)
      Object.assign(next, { fg: null, bg: null, bold: false, underline: false, inverse: false });
    else if (code === 1) next.bold = true;
    else if (code === 22) next.bold = false;
    else if (code === 4) next.underline = true;
    else if (code === 24) next.underline = false;
    else if (code === 7) next.inverse = true;
    else if (code === 27) next.inverse = false;
    else if (code === 39) next.fg = null;
    else if (code === 49) next.bg = null;
    else if (code === 38 || code === 48) {
      const colour = codes[i + 1] === 5 ? indexed(codes[i + 2]) : `rgb(${codes.slice(i + 2, i + 5)})`;
      next[code === 38 ? 'fg' : 'bg'] = colour;
      i += codes[i + 1] === 5 ? 2 : 4;
    } else if (code >= 30 && code <= 37) next.fg = PALETTE[code - 30];
    else if (code >= 40 && code <= 47) next.bg = PALETTE[code - 40];
    else if (code >= 90 && code <= 97) next.fg = BRIGHT[code - 90];
    else if (code >= 100 && code <= 107) next.bg = BRIGHT[code - 100];
  }
  return next;
}

/** The drawing of one line, and the colours at its end. */
function draw(line, row, pen, theme) {
  const drawn = [];
  let column = 0;
  let now = pen;
  for (const [, codes, text] of line.matchAll(/\x1b\[([\d;]*)m|([^\x1b]+)/g)) {
    if (text === undefined) {
      now = turned(now, codes.split(';').map(Number));
      continue;
    }
    const [ink, paper] = [now.fg ?? theme.ink, now.bg ?? theme.paper];
    const [fill, ground] = now.inverse ? [paper, ink] : [ink, paper];
    const [x, y] = [10 + column * CELL.width, 10 + row * CELL.height];
    const width = [...text].length * CELL.width;
    drawn.push(`fill '${ground}' rectangle ${x},${y} ${x + width - 1},${y + CELL.height - 1}`);
    if (now.underline) drawn.push(`fill '${fill}' rectangle ${x},${y + 16} ${x + width - 1},${y + 16}`);
    drawn.push(`font '${FONT}${now.bold ? '-Bold' : ''}.ttf' font-size 15 fill '${fill}'`);
    // Drawn cell by cell, so that the columns of the terminal are exact.
    for (const [i, character] of [...text].entries()) {
      if (character === ' ') continue;
      const quoted = /['\\]/.test(character) ? `\\${character}` : character;
      drawn.push(`text ${x + i * CELL.width},${y + 15} '${quoted}'`);
    }
    column += [...text].length;
  }
  return { drawn, pen: now };
}

/** The drawing of painted lines. */
function drawLines(painted, theme) {
  const drawing = [];
  let pen = turned({}, [0]);
  for (const [row, line] of painted.entries()) {
    const done = draw(line, row, pen, theme);
    drawing.push(...done.drawn);
    pen = done.pen;
  }
  return drawing;
}

/** Writes a picture of painted lines to `file`; `cursor` is a column and a row, or null for no cursor. */
export function drawPicture(painted, file, { columns, lines, theme = LIGHT, cursor = null }) {
  const drawing = drawLines(painted, theme);
  if (cursor !== null) {
    const [x, y] = [10 + cursor[0] * CELL.width, 10 + cursor[1] * CELL.height];
    drawing.push(`fill '${theme.ink}80' rectangle ${x},${y} ${x + CELL.width - 1},${y + CELL.height - 1}`);
  }
  const size = `${columns * CELL.width + 20}x${lines * CELL.height + 20}`;
  const options = ['-size', size, `xc:${theme.paper}`, '-draw', drawing.join('\n'), '-colors', '64'];
  // 64 colours are enough for text, and make a file four times smaller.
  execFileSync('/usr/bin/convert', [...options, '-colors', '64', `PNG8:${file}`]);
}
