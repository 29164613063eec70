import {
  projectEvents,
  type NameColumn,
  type Projection,
  type RecordedEvent,
  type Sql,
  type ViewTables,
} from '#kernel';
import type { DatabaseSession } from '#postgres';
import type { EventStore } from '../event-store.js';
import type { Follower } from '../followers/follower.js';
import type { ModuleDefinition } from '../module-definition.js';

/** Tables that are computed from the log, by a projection or a follower. */
export type RebuildableView = {
  readonly name: string;
  readonly version: number;
  readonly tables: readonly string[];
  readonly names: readonly NameColumn[];
  /** Types of the events that the view needs; null for all types. */
  readonly only: readonly string[] | null;
  readonly apply: (
    events: readonly RecordedEvent[],
    session: DatabaseSession,
    store: EventStore,
  ) => Promise<readonly Sql[]>;
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
  apply: (events) => Promise.resolve(projectEvents(projection, events)),
  follower: null,
});

const toFollowerView = (follower: Follower & { readonly version: number }): RebuildableView => ({
  name: follower.name,
  version: follower.version,
  tables: follower.tables,
  names: follower.names ?? [],
  only: follower.only ?? null,
  apply: (events, session, store) => follower.follow(events, session, store),
  follower,
});
