import { formatTimestamp, type EventContext, type Ids, type Timestamp } from '#platform/kernel';
import type { BulkWrite, StreamWrite } from '#storage/event-store';
import type { FeatureSet } from '#organizations/organizations';
import type { SeedOptions } from './seed-options.js';

export type SeedUser = { readonly id: string; readonly username: string };

/** Everything that determines the events, apart from their times. */
export type SeedPlan = {
  readonly options: SeedOptions;
  readonly ids: Ids;
  readonly users: readonly SeedUser[];
  /** Values of the API for requests without these attributes. */
  readonly defaults: {
    readonly featureSet: FeatureSet;
    readonly terraformVersion: string;
    readonly globalRemoteState: boolean;
  };
};

const DAY_MS = 86_400_000;

/** Returns the time of the nth of all events. They are spread evenly over the past days. */
export type Timeline = (n: number) => Timestamp;

export const createTimeline = (now: Date, days: number, events: number): Timeline => {
  const start = now.getTime() - days * DAY_MS;
  return (n) => formatTimestamp(start + Math.floor((days * DAY_MS * n) / Math.max(1, events)));
};

/** Users take turns. */
export const pickUser = ({ users }: SeedPlan, n: number): SeedUser => {
  const user = users[n % users.length];
  if (!user) throw new Error('the plan has no users');
  return user;
};

/** Adds the request of a user to a write. */
export const addRequest = (
  { ids }: SeedPlan,
  { expected, ...write }: StreamWrite,
  { id, username }: SeedUser,
  times: readonly Timestamp[],
): BulkWrite => {
  if (expected === 'any') throw new Error('a seeded stream needs an expected version');
  const request = ids.uuid();
  const context: EventContext = {
    accessor: { id, type: 'users', name: username },
    auth: 'Client',
    impersonator: null,
    request: { id: request, address: '127.0.0.1', userAgent: 'cadastre seed' },
    correlation: request,
    causation: null,
  };
  return { ...write, expected, context, times };
};
