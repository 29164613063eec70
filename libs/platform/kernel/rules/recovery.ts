import { conflict, notFound } from '../errors/refusal.js';

/** Returns the facts of a deletion for the audit trail. */
export const describeDeletion = ({ recoverableUntil, ...facts }: DeletionFacts) => ({
  ...facts,
  ...(recoverableUntil === null ? {} : { recoverable_until: recoverableUntil }),
});

type DeletionFacts = { readonly name: string; readonly recoverableUntil: string | null };

type ActiveStatus = { readonly status: 'active' };

/**
 * The state of a resource that can be recovered after its deletion. `last`: the resource as it was; null after a final
 * deletion or the purge.
 *
 * active ──delete──► deleted ──recover──► active
 *                    └──purge──► deleted for good
 */
export type RecoverableState<A extends ActiveStatus> =
  { readonly status: 'absent' } | { readonly status: 'deleted'; readonly last: A | null } | A;

/** The end of a recoverable resource. `expired`: false if somebody ended it before its time. */
export type PurgeCommandData = { readonly expired: boolean };

/** Returns the deleted resource as it was. Throws conflict if it is not deleted, not-found if it cannot be recovered. */
export const requireDeleted = <A extends ActiveStatus>(state: RecoverableState<A>, noun: string): A => {
  if (state.status === 'active') throw conflict(`The ${noun} is not deleted`);
  if (state.status === 'absent' || !state.last) throw notFound();
  return state.last;
};

/** Returns the events of a purge. An expired resource may have been recovered or purged in the meantime. */
export const decidePurge = <A extends ActiveStatus, E>(
  { expired }: PurgeCommandData,
  state: RecoverableState<A>,
  { noun, purge }: { readonly noun: string; readonly purge: (last: A) => E },
): readonly E[] => {
  if (expired && (state.status !== 'deleted' || !state.last)) return [];
  return [purge(requireDeleted(state, noun))];
};

/** Returns the state after a deletion. It keeps the resource if the resource can be recovered. */
export const toDeletedState = <A extends ActiveStatus>(
  { recoverableUntil }: { readonly recoverableUntil: string | null },
  state: RecoverableState<A>,
): RecoverableState<A> => ({
  status: 'deleted',
  last: recoverableUntil !== null && state.status === 'active' ? state : null,
});
