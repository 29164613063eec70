import { Graph, layout, type EdgeLabel, type GraphLabel, type NodeLabel, type Point } from '@dagrejs/dagre';

export const NODE_WIDTH = 200;
export const NODE_HEIGHT = 40;

/** An apply in the workspace `source` starts a run in the workspace `target`. Each is the name of a workspace. */
export type DrawnTrigger = { readonly id: string; readonly source: string; readonly target: string };

/** Lengths are in pixels; `left` and `top` are those of a corner. */
type TriggerLayout = {
  readonly width: number;
  readonly height: number;
  readonly nodes: readonly { readonly name: string; readonly left: number; readonly top: number }[];
  readonly lines: readonly (DrawnTrigger & { readonly path: string })[];
};

const toPath = ([first, ...rest]: readonly Point[]): string =>
  first ? [`M${first.x} ${first.y}`, ...rest.map(({ x, y }) => `L${x} ${y}`)].join(' ') : '';

/** Lays out workspaces from left to right, each one right of those whose applies start runs in it. */
export const layOutTriggers = (edges: readonly DrawnTrigger[]): TriggerLayout => {
  const graph = new Graph<GraphLabel, NodeLabel, EdgeLabel>();
  graph.setGraph({ rankdir: 'LR', nodesep: 16, ranksep: 64, marginx: 8, marginy: 8 });
  for (const name of new Set(edges.flatMap(({ source, target }) => [source, target])))
    graph.setNode(name, { width: NODE_WIDTH, height: NODE_HEIGHT });
  for (const { source, target } of edges) graph.setEdge(source, target, {});
  layout(graph);
  const { width = 0, height = 0 } = graph.graph();
  return {
    width,
    height,
    nodes: graph.nodes().map((name) => {
      const { x = 0, y = 0 } = graph.node(name);
      return { name, left: x - NODE_WIDTH / 2, top: y - NODE_HEIGHT / 2 };
    }),
    lines: edges.map((edge) => ({ ...edge, path: toPath(graph.edge(edge.source, edge.target).points ?? []) })),
  };
};
