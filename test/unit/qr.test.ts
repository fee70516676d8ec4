/** The QR codes of pairing, as a picture and as lines of blocks: read as a camera's program does, module by module. */
import { describe, expect, test } from 'vitest';
import { pairingAddress } from '../../src/extensions/inbox/device.ts';
import { codeOn, qrOf } from '../../src/extensions/inbox/devices.ts';

/** The modules of a code by row, true for a dark one, with the border. */
type Modules = boolean[][];

/** Each black square of the picture is a module. @throws Error for a picture that has anything else. */
function fromPicture(svg: string): Modules {
  const [, width = '', path = ''] =
    /^<svg xmlns="[^"]+" viewBox="0 0 (\d+) \1"><rect fill="white" width="\1" height="\1"\/><path fill="black" d="([^"]*)"\/><\/svg>$/.exec(
      svg,
    ) ?? [];
  const squares = [...path.matchAll(/M(\d+),(\d+)h(\d+)v\3h-\3z/g)];
  const sizes = new Set(squares.map(([, , , size]) => Number(size)));
  const [size = 0] = sizes;
  if (sizes.size !== 1 || squares.map(([text]) => text).join('') !== path)
    throw new Error(`Not squares of one size: ${svg.slice(0, 200)}`);
  const count = Number(width) / size;
  const modules = Array.from({ length: count }, () => Array<boolean>(count).fill(false));
  for (const [, x, y] of squares) {
    const row = modules[Number(y) / size];
    if (row?.[Number(x) / size] !== false) throw new Error(`A square is outside, or twice: ${x},${y}`);
    row[Number(x) / size] = true;
  }
  return modules;
}

/** Each character has two modules, one above the other; what is drawn is light. */
function fromBlocks(blocks: string): Modules {
  const light: Readonly<Record<string, [boolean, boolean]>> = {
    '█': [true, true],
    '▀': [true, false],
    '▄': [false, true],
    ' ': [false, false],
  };
  const rows = blocks.split('\n').flatMap((line) => {
    const pairs = Array.from(
      line,
      (character) => light[character] ?? expect.fail(`A character: ${character}`),
    );
    return [pairs.map(([above]) => !above), pairs.map(([, below]) => !below)];
  });
  // A code has an odd number of rows: below the last one there is nothing.
  return rows.slice(0, rows[0]?.length);
}

/**
 * The text of a code of version 2 to 5 with error correction L, whose data is one block of bytes (ISO/IEC 18004). A camera
 * corrects errors; here each module must be right.
 */
function read(bordered: Modules): string {
  const inner = bordered.slice(4, -4).map((row) => row.slice(4, -4));
  expect(
    [...bordered.slice(0, 4), ...bordered.slice(-4)].flat(),
    'a border of four light modules',
  ).not.toContain(true);
  expect(bordered.flatMap((row) => [...row.slice(0, 4), ...row.slice(-4)])).not.toContain(true);
  const size = inner.length;
  const version = (size - 17) / 4;
  expect([2, 3, 4, 5]).toContain(version);
  const dark = (x: number, y: number): boolean => inner[y]?.[x] ?? expect.fail(`No module at ${x},${y}`);
  const format = [0, 1, 2, 3, 4].map((x) => Number(dark(x, 8))).join('');
  const said = Number.parseInt(format, 2) ^ 0b10101;
  expect(said >> 3, 'error correction L').toBe(0b01);
  const flips = MASKS[said & 7] ?? expect.fail('No mask');
  const isFunction = (x: number, y: number): boolean =>
    x === 6 ||
    y === 6 ||
    (x < 9 && y < 9) ||
    (x >= size - 8 && y < 9) ||
    (x < 9 && y >= size - 8) ||
    (Math.abs(x - (size - 7)) <= 2 && Math.abs(y - (size - 7)) <= 2);
  let bits = '';
  let up = true;
  for (let right = size - 1; right > 0; right -= 2) {
    if (right === 6) right -= 1;
    for (let step = 0; step < size; step += 1) {
      const y = up ? size - 1 - step : step;
      for (const x of [right, right - 1]) if (!isFunction(x, y)) bits += Number(dark(x, y) !== flips(x, y));
    }
    up = !up;
  }
  expect(bits.slice(0, 4), 'bytes').toBe('0100');
  const length = Number.parseInt(bits.slice(4, 12), 2);
  const bytes = Array.from({ length }, (_, at) => Number.parseInt(bits.slice(12 + 8 * at, 20 + 8 * at), 2));
  return Buffer.from(bytes).toString('utf8');
}

const MASKS: readonly ((x: number, y: number) => boolean)[] = [
  (x, y) => (x + y) % 2 === 0,
  (_x, y) => y % 2 === 0,
  (x) => x % 3 === 0,
  (x, y) => (x + y) % 3 === 0,
  (x, y) => (Math.floor(x / 3) + Math.floor(y / 2)) % 2 === 0,
  (x, y) => ((x * y) % 2) + ((x * y) % 3) === 0,
  (x, y) => (((x * y) % 2) + ((x * y) % 3)) % 2 === 0,
  (x, y) => (((x + y) % 2) + ((x * y) % 3)) % 2 === 0,
];

test.each([
  'https://hive.example.org/inbox',
  'http://127.0.0.1:7373/inbox',
  'https://hive.tail1234.ts.net:8443/inbox',
])(
  'the picture and the blocks of %s have the same modules, and are read as the address with the code',
  async (inbox) => {
    const address = pairingAddress(inbox, '7k3m9q2x');
    const { svg, blocks } = await qrOf(address);
    const picture = fromPicture(svg);
    expect(fromBlocks(blocks)).toEqual(picture);
    expect(read(picture)).toBe(address);
  },
);

describe('in a terminal', () => {
  const blocks = async (): Promise<string> =>
    (await qrOf(pairingAddress('http://127.0.0.1:7373/inbox', '7k3m9q2x'))).blocks;

  test('without UTF-8, the code consists of blanks', async () => {
    const code = codeOn({ utf8: false, columns: 80, rows: 50 }, await blocks()) ?? '';
    expect(code).toMatch(/^[\u001b[\dm \n]+$/);
    const modules = code
      .split('\n')
      .map((row) => [...row.matchAll(/\u001b\[4([07])m {2}/g)].map(([, colour]) => colour === '0'));
    expect(read(modules)).toBe(pairingAddress('http://127.0.0.1:7373/inbox', '7k3m9q2x'));
  });

  test('that has no room for it then, there is none', async () => {
    expect(codeOn({ utf8: false, columns: 80, rows: 24 }, await blocks())).toBeNull();
    expect(codeOn({ utf8: false, columns: 72, rows: 50 }, await blocks())).toBeNull();
    expect(codeOn({ utf8: true, columns: 80, rows: 24 }, await blocks())).toContain('█');
  });
});
