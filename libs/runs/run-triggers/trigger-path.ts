/** A run trigger without its id: applies of the source start runs in the workspace. */
export type TriggerEdge = { readonly source: string; readonly workspace: string };

/** Returns the shortest path along the triggers, from the first to the last workspace; null if there is none. */
export const findTriggerPath = (edges: readonly TriggerEdge[], from: string, to: string): readonly string[] | null => {
  const targets = Map.groupBy(edges, ({ source }) => source);
  const previous = new Map<string, string | null>([[from, null]]);
  // A Map also iterates over the entries that are added meanwhile, in their order.
  for (const [reached] of previous) {
    if (reached === to) return listPathTo(previous, to);
    for (const { workspace } of targets.get(reached) ?? []) {
      if (!previous.has(workspace)) previous.set(workspace, reached);
    }
  }
  return null;
};

const listPathTo = (previous: ReadonlyMap<string, string | null>, end: string): readonly string[] => {
  const path: string[] = [];
  for (let at: string | null = end; at !== null; at = previous.get(at) ?? null) path.unshift(at);
  return path;
};
