import type { DataOf } from '#platform/kernel';
import type { Actor } from '#api/access';
import { AggregateCommand, type Operation } from '#storage/event-store';
import type { ReservedTagKeyCommand } from './reserved-tag-key.js';
import type { ReservedTagKeyRow } from './reserved-tag-keys.queries.js';

export type ReservedTagKeyOperations = {
  CreateReservedTagKey: Operation<
    { organization: string; data: DataOf<ReservedTagKeyCommand, 'CreateReservedTagKey'>; actor: Actor },
    ReservedTagKeyRow
  >;
  /** Resolves to null if the key has been deleted meanwhile. */
  UpdateReservedTagKey: Operation<
    { id: string; data: DataOf<ReservedTagKeyCommand, 'UpdateReservedTagKey'>; actor: Actor },
    ReservedTagKeyRow | null
  >;
  DeleteReservedTagKey: Operation<{ id: string; actor: Actor }, void>;
};

export class ChangeReservedTagKey<T extends keyof ReservedTagKeyOperations> extends AggregateCommand<
  ReservedTagKeyOperations,
  T
> {}
