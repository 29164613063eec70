import { projectEvents, replayEvents, type NameColumn, type Projection, type ViewTables } from '#platform/kernel';
import type { Follower } from '../followers/follower.js';
import type { ModuleDefinition } from '../module-definition.js';

/** `any`: the tables have no unique names, so a projection may apply events in another order with the same result. */
export type ReplayedOrder = 'log' | 'any';

/** Returns the statements that apply events to the tables. */
export type ReplayHandler = Follower['follow'];

/** Tables that are computed from the log, by a projection or a follower. */
export type RebuildableView = {
  readonly name: string;
  readonly version: number;
  readonly tables: readonly string[];
  readonly names: readonly NameColumn[];
  /** Types of the events that the view needs; null for all types. */
  readonly only: readonly string[] | null;
  /** See ViewTables. */
  readonly replayIndexes: readonly string[] | null;
  /** Returns the function for one replay, or for a part of it: another one may have changed the tables in between. */
  readonly createReplay: (order: ReplayedOrder) => ReplayHandler;
  readonly follower: Follower | null;
};

export const listViews = (modules: readonly ModuleDefinition[]): RebuildableView[] => [
  ...modules.flatMap((module) => module.projections.filter(hasTables).map(toInlineView)),
  ...modules.flatMap((module) => module.followers.filter(hasTables).map(toFollowerView)),
];

const hasTables = <T extends ViewTables>(one: T): one is T & { readonly version: number } => one.tables.length > 0;

const toInlineView = (projection: Projection & { readonly version: number }): RebuildableView => ({
  name: projection.name,
  version: projection.version,
  tables: projection.tables,
  names: projection.names ?? [],
  only: Object.entries(projection.on).flatMap(([type, row]) => (row ? [type] : [])),
  replayIndexes: projection.replayIndexes ?? null,
  createReplay: (order) => (events) =>
    Promise.resolve(order === 'any' ? replayEvents(projection, events) : projectEvents(projection, events)),
  follower: null,
});

const toFollowerView = (follower: Follower & { readonly version: number }): RebuildableView => ({
  name: follower.name,
  version: follower.version,
  tables: follower.tables,
  names: follower.names ?? [],
  only: follower.only ?? null,
  replayIndexes: follower.replayIndexes ?? null,
  createReplay: () => follower.createReplay?.() ?? follower.follow,
  follower,
});
