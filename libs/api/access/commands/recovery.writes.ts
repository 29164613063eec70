import type { Decider, Message, RecoverableState } from '#platform/kernel';
import type { EventStore } from '#storage/event-store';
import type { RecoveredResource, RecoveryChange } from './recovery-period.service.js';
import { changeResource, type ResourceRow, type ResourceTask } from './resource.writes.js';

type RecoveryTask<
  A extends { readonly status: 'active' },
  C extends Message,
  R extends ResourceRow,
  D extends C,
> = Omit<ResourceTask<RecoverableState<A>, C, R, D>, 'command'> & {
  /** Returns the command. `last` is the resource before its deletion; null if it is not deleted, which the decider refuses. */
  readonly command: (row: R, last: A | null) => D;
  readonly describe: (row: R, last: A) => RecoveredResource;
};

/** Brings a deleted resource back, and returns it with what is not as it was. */
export const recoverResource = async <
  A extends { readonly status: 'active' },
  C extends Message,
  E extends Message,
  R extends ResourceRow,
  const D extends C,
>(
  store: EventStore,
  decider: Decider<RecoverableState<A>, C, E>,
  { command, describe, ...task }: RecoveryTask<A, NoInfer<C>, R, D>,
): Promise<RecoveredResource> => {
  let recovered: RecoveredResource | null = null;
  await changeResource<RecoverableState<A>, C, E, R, D>(store, decider, {
    ...task,
    command: (row, state) => {
      const last = state.status === 'deleted' ? state.last : null;
      recovered = last && describe(row, last);
      return command(row, last);
    },
  });
  if (!recovered) throw new Error('the decider has recovered a resource that is not deleted');
  return recovered;
};

/** Returns the change of the name, if the caller has sent another one. */
export const describeRename = (name: string | undefined, before: string): readonly RecoveryChange[] =>
  name === undefined || name === before ? [] : [{ field: 'name', detail: `The name was ${before}` }];
