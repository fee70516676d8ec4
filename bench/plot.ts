/** A growth curve as an SVG file: nothing but text, so that a change of a figure is a change of a line. */

export interface Series {
  readonly name: string;
  /** In any order; x above 0. */
  readonly points: readonly { readonly x: number; readonly y: number }[];
}

export interface Plot {
  readonly title: string;
  /** What x counts; its axis is logarithmic. */
  readonly x: string;
  /** What y is, with its unit; its axis begins at 0. */
  readonly y: string;
  readonly series: readonly Series[];
}

const [WIDTH, HEIGHT] = [640, 360];
const FRAME = { left: 64, right: 620, top: 44, bottom: 300 };
/** Told apart without colour too: by their marks (Okabe and Ito's palette). */
const STYLES = [
  { colour: '#0072b2', mark: (x: number, y: number) => `<circle cx="${x}" cy="${y}" r="4"/>` },
  {
    colour: '#d55e00',
    mark: (x: number, y: number) => `<rect x="${x - 4}" y="${y - 4}" width="8" height="8"/>`,
  },
  {
    colour: '#009e73',
    mark: (x: number, y: number) => `<path d="M${x} ${y - 5}l5 9h-10z"/>`,
  },
] as const;

/** Draws it. Coordinates are whole pixels: the same figures give the same file. */
export function draw({ title, x, y, series }: Plot): string {
  const points = series.flatMap((one) => one.points);
  const xs = [...new Set(points.map((point) => point.x))].sort((a, b) => a - b);
  const top = niceAbove(Math.max(...points.map((point) => point.y)));
  const [first = 1, last = 1] = [xs.at(0), xs.at(-1)];
  const across = Math.log(last / first) || 1;
  const placeX = (value: number): number =>
    Math.round(FRAME.left + ((FRAME.right - FRAME.left) * Math.log(value / first)) / across);
  const placeY = (value: number): number =>
    Math.round(FRAME.bottom - ((FRAME.bottom - FRAME.top) * value) / top);

  const ticksX = xs.map(
    (value) =>
      `<text x="${placeX(value)}" y="${FRAME.bottom + 20}" text-anchor="middle">${value.toLocaleString('en')}</text>`,
  );
  const ticksY = [0, 0.25, 0.5, 0.75, 1].map((part) => {
    const at = placeY(part * top);
    return `<path d="M${FRAME.left} ${at}H${FRAME.right}" stroke="#ddd"/><text x="${FRAME.left - 8}" y="${at + 4}" text-anchor="end">${Number((part * top).toPrecision(3))}</text>`;
  });
  const curves = series.map(({ name, points: own }, index) => {
    const { colour, mark } = STYLES[index % STYLES.length] ?? STYLES[0];
    const placed = own
      .toSorted((a, b) => a.x - b.x)
      .map((point) => [placeX(point.x), placeY(point.y)] as const);
    const line = placed.map(([px, py]) => `${px},${py}`).join(' ');
    const legend = FRAME.left + index * 190;
    return [
      `<g fill="${colour}">`,
      `<polyline points="${line}" fill="none" stroke="${colour}" stroke-width="2"/>`,
      ...placed.map(([px, py]) => mark(px, py)),
      `${mark(legend + 6, HEIGHT - 14)}<text x="${legend + 18}" y="${HEIGHT - 10}" fill="#222">${escaped(name)}</text>`,
      '</g>',
    ].join('\n');
  });
  return `${[
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" font-family="sans-serif" font-size="13" fill="#222">`,
    `<rect width="${WIDTH}" height="${HEIGHT}" fill="#fff"/>`,
    `<text x="${FRAME.left}" y="20" font-size="15" font-weight="bold">${escaped(title)}</text>`,
    `<text x="${FRAME.left}" y="37">${escaped(y)}</text>`,
    ...ticksY,
    ...ticksX,
    `<text x="${FRAME.right}" y="${FRAME.bottom + 36}" text-anchor="end">${escaped(x)}</text>`,
    ...curves,
    '</svg>',
  ].join('\n')}\n`;
}

/** The next 1, 2, 4 or 8 times a power of ten: quarters of it are short numbers. */
function niceAbove(value: number): number {
  const power = 10 ** Math.floor(Math.log10(value));
  return power * ([1, 2, 4, 8, 10].find((step) => step * power >= value) ?? 10);
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}
