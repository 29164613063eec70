// A CPU profile of V8 as a flame graph.
import { escapeText, svg } from './charts.js';

const WIDTH = 1_200;
const ROW = 18;
/** Narrower boxes are left out. */
const LEAST_PX = 1;
const CHARACTER_PX = 6.6;
const US_PER_MS = 1_000;
/** V8's name for the time in which the thread had nothing to do. */
const IDLE = '(idle)';

const COLORS = [
  [/^\(garbage/, '#f87171'],
  [/^\(/, '#d1d5db'],
  [/node_modules\//, '#fde047'],
  [/\/(?:libs|apps)\//, '#fb923c'],
  [/./, '#93c5fd'],
];

const originOf = ({ functionName, url }) => (functionName.startsWith('(') ? functionName : url || 'node:internal');
const colorOf = (origin) => COLORS.find(([pattern]) => pattern.test(origin))?.[1] ?? '#93c5fd';

const shorten = (url) =>
  url
    .replace(/^.*\/node_modules\//, '')
    .replace(/^.*\/(?=(?:libs|apps)\/)/, '')
    .replace(/^file:\/\//, '');

const labelOf = ({ functionName, url, lineNumber }) =>
  `${functionName || '(anonymous)'}${url ? ` ${shorten(url)}:${lineNumber + 1}` : ''}`;

/** Returns the time of each node in microseconds, without its children. */
const selfTimes = ({ samples, timeDeltas }) => {
  const times = new Map();
  for (const [n, id] of samples.entries()) times.set(id, (times.get(id) ?? 0) + timeDeltas[n]);
  return times;
};

/** Returns the tree of calls. Calls of one function by the same caller are one node. */
export const buildTree = (profile) => {
  const nodes = new Map(profile.nodes.map((node) => [node.id, node]));
  const times = selfTimes(profile);
  const merge = (ids, isRoot) => {
    const groups = Map.groupBy(
      ids.map((id) => nodes.get(id)),
      ({ callFrame }) => labelOf(callFrame),
    );
    return [...groups]
      .map(([label, same]) => {
        const children = merge(
          same.flatMap((node) => node.children ?? []),
          false,
        );
        const self = same.reduce((sum, { id }) => sum + (times.get(id) ?? 0), 0);
        const time = children.reduce((sum, child) => sum + child.time, self);
        return { label, origin: originOf(same[0].callFrame), self, time, children };
      })
      .filter(({ label, time }) => time > 0 && (isRoot || label !== IDLE))
      .sort((a, b) => b.time - a.time);
  };
  const [root] = merge([profile.nodes[0].id], true);
  return root ?? { label: '(root)', origin: '(root)', self: 0, time: 0, children: [] };
};

const boxesOf = (root) => {
  const boxes = [];
  const place = (node, x, depth) => {
    const width = (node.time / root.time) * WIDTH;
    if (width < LEAST_PX) return;
    boxes.push({ ...node, x, depth, width });
    let left = x;
    for (const child of node.children) {
      place(child, left, depth + 1);
      left += (child.time / root.time) * WIDTH;
    }
  };
  if (root.time > 0) place(root, 0, 0);
  return boxes;
};

const drawBox =
  (root) =>
  ({ label, origin, time, x, depth, width }) => {
    const percent = ((time / root.time) * 100).toFixed(1);
    const characters = Math.floor((width - 6) / CHARACTER_PX);
    const name = characters < 3 ? '' : label.length > characters ? `${label.slice(0, characters - 1)}…` : label;
    const y = 30 + depth * ROW;
    return `<g><title>${escapeText(`${label}: ${percent} %, ${Math.round(time / US_PER_MS)} ms`)}</title><rect x="${x.toFixed(1)}" y="${y}" width="${Math.max(0.5, width - 0.5).toFixed(1)}" height="${ROW - 1}" fill="${colorOf(origin)}"/><text x="${(x + 3).toFixed(1)}" y="${y + 13}">${escapeText(name)}</text></g>`;
  };

/** Returns the flame graph, without idle time. */
export const flameGraph = (profile, title) => {
  const root = buildTree(profile);
  const boxes = boxesOf(root);
  const depth = Math.max(0, ...boxes.map((box) => box.depth));
  return svg(WIDTH, 40 + (depth + 1) * ROW, title, [
    `<text x="4" y="18">${escapeText(title)}</text>`,
    ...boxes.map(drawBox(root)),
  ]);
};
