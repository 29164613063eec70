import type { Decider, EventKinds, EventRegistry, Message, Projection } from '#kernel';
import type { EncryptedColumn } from './migrations/encrypted-column.js';
import type { Follower } from './followers/follower.js';

/** An aggregate as rebuild and verify need to know it: `prefix` is that of its stream ids, such as `ws`. */
export type Aggregate = { readonly prefix: string; readonly decider: Decider<unknown, never, never> };

/**
 * What a slice brings to the log: its events, the rules that fold them, the views made of them, and the SQL that makes
 * the tables. apps/modules.ts lists them all; nothing registers itself.
 */
export type ModuleDefinition = {
  readonly name: string;
  readonly kinds: EventRegistry;
  readonly aggregates: readonly Aggregate[];
  readonly projections: readonly Projection[];
  readonly followers: readonly Follower[];
  /** Folder of numbered, forward-only migrations; null where the slice has no tables. */
  readonly migrations: URL | null;
  /** Where its tables hold values that are encrypted with the encryption key. */
  readonly encryptedColumns?: readonly EncryptedColumn[];
};

/** Forgets the event union on purpose: the registry is looked up by a name read from the log. */
export const toEventRegistry = <E extends Message>(kinds: EventKinds<E>): EventRegistry =>
  kinds as unknown as EventRegistry;

export const defineAggregate = <S, C extends Message, E extends Message>(
  prefix: string,
  decider: Decider<S, C, E>,
): Aggregate => ({ prefix, decider: decider as unknown as Aggregate['decider'] });

export const toProjection = (projection: Omit<Projection, 'on'> & { readonly on: object }): Projection =>
  projection as unknown as Projection;

export const buildEventRegistry = (slices: readonly ModuleDefinition[]): EventRegistry => {
  const entries = slices.flatMap((slice) => Object.entries(slice.kinds));
  const registry = Object.fromEntries(entries);
  if (Object.keys(registry).length !== entries.length) throw new Error('two slices name an event alike');
  return registry;
};
