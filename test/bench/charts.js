// Plots as SVG text. They are few and simple, so no library draws them.
const FONT = 'font-family="system-ui, sans-serif" font-size="12"';
const COLORS = [
  '#2563eb',
  '#d97706',
  '#059669',
  '#9333ea',
  '#dc2626',
  '#0891b2',
  '#65a30d',
  '#db2777',
  '#475569',
  '#854d0e',
  '#4f46e5',
  '#0d9488',
  '#b91c1c',
  '#7c3aed',
];
const INK = '#1f2937';
const MUTED = '#9ca3af';

export const escapeText = (text) =>
  String(text).replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');

export const text = (x, y, value, { anchor = 'start', fill = INK } = {}) =>
  `<text x="${x}" y="${y}" text-anchor="${anchor}" fill="${fill}">${escapeText(value)}</text>`;

export const svg = (width, height, title, parts) =>
  `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" ${FONT} role="img">
<title>${escapeText(title)}</title>
<rect width="${width}" height="${height}" fill="#ffffff"/>
${parts.join('\n')}
</svg>
`;

const LABELS = 230;
const PLOT = 480;
const ROW = 26;
const TOP = 40;

/** Bars with a mark at the budget of each: `{ label, value, min, max, budget }`. */
export const barChart = (title, bars) => {
  const most = Math.max(1, ...bars.flatMap(({ max, budget }) => [max, budget ?? 0]));
  const scale = (value) => LABELS + (value / most) * PLOT;
  const rows = bars.flatMap(({ label, value, min, max, budget }, n) => {
    const y = TOP + n * ROW;
    const isOver = budget !== null && value > budget;
    const marks = [
      text(LABELS - 8, y + 15, label, { anchor: 'end' }),
      `<rect x="${LABELS}" y="${y + 4}" width="${(scale(value) - LABELS).toFixed(1)}" height="14" fill="${isOver ? '#f59e0b' : '#10b981'}"/>`,
      `<line x1="${scale(min).toFixed(1)}" x2="${scale(max).toFixed(1)}" y1="${y + 11}" y2="${y + 11}" stroke="${INK}"/>`,
      text(scale(max) + 6, y + 15, value.toFixed(1)),
    ];
    if (budget === null) return marks;
    const x = scale(budget).toFixed(1);
    return [...marks, `<line x1="${x}" x2="${x}" y1="${y}" y2="${y + 22}" stroke="#dc2626" stroke-width="2"/>`];
  });
  return svg(LABELS + PLOT + 60, TOP + bars.length * ROW + 10, title, [text(10, 20, title), ...rows]);
};

const LEFT = 50;
const HEIGHT = 320;

/** Lines over named steps: `series` is a list of `{ label, values }`, with one value for each step. */
export const lineChart = (title, steps, series, budget) => {
  const most = Math.max(budget, ...series.flatMap(({ values }) => values.filter(Number.isFinite))) * 1.05;
  const x = (n) => LEFT + 20 + (n * (PLOT - 40)) / Math.max(1, steps.length - 1);
  const y = (value) => TOP + HEIGHT - (value / most) * HEIGHT;
  const lines = series.map(({ label, values }, n) => {
    const color = COLORS[n % COLORS.length];
    const points = values.flatMap((value, step) =>
      Number.isFinite(value) ? [`${x(step).toFixed(1)},${y(value).toFixed(1)}`] : [],
    );
    return [
      `<polyline points="${points.join(' ')}" fill="none" stroke="${color}" stroke-width="2"/>`,
      text(LEFT + PLOT + 20, TOP + 12 + n * 18, label, { fill: color }),
    ].join('\n');
  });
  const limit = y(budget).toFixed(1);
  const ticks = Array.from({ length: 5 }, (_, n) => (most * n) / 4);
  return svg(LEFT + PLOT + 260, TOP + HEIGHT + 40, title, [
    text(10, 20, title),
    ...ticks.map((tick) => text(LEFT - 6, y(tick) + 4, tick.toFixed(1), { anchor: 'end', fill: MUTED })),
    ...ticks.map((tick) => `<line x1="${LEFT}" x2="${LEFT + PLOT}" y1="${y(tick)}" y2="${y(tick)}" stroke="#e5e7eb"/>`),
    ...steps.map((step, n) => text(x(n), TOP + HEIGHT + 20, step, { anchor: 'middle' })),
    `<line x1="${LEFT}" x2="${LEFT + PLOT}" y1="${limit}" y2="${limit}" stroke="#dc2626" stroke-dasharray="6 4"/>`,
    text(LEFT + 4, Number(limit) - 4, `budget ${budget}`, { fill: '#dc2626' }),
    ...lines,
  ]);
};
