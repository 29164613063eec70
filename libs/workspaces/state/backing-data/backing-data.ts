import { z } from 'zod';
import { badRequest, defineEvents, type Decider, type EventsOf, type Message } from '#platform/kernel';
import { inWorkspace } from '#api/access/rules';

const defineAuditedEvent = (action: string) => ({
  schema: z.strictObject({ workspace: z.string() }),
  audit: { action, meta: ({ workspace }: { readonly workspace: string }) => ({ workspace_id: workspace }) },
  live: 'changed' as const,
  ids: { refersTo: { workspace: ['ws'] } },
});

/**
 * The files of a state version, from the first deletion on.
 *
 *   kept ──soft-delete──► soft-deleted ──delete-permanently──► deleted
 *     ◄──────restore──────────┘
 *
 * The stream is that of the version, not of the workspace, whose state would otherwise grow with every deleted version.
 * A soft deletion first checks which version the workspace needs, with the workspace's version as a precondition.
 */
export const backingDataEvents = defineEvents(
  {
    topic: 'workspaces',
    stream: 'sv',
    audited: 'state_version',
    live: inWorkspace('state-versions', 'read-state', { field: 'workspace' }),
  },
  {
    StateVersionDataSoftDeleted: defineAuditedEvent('soft_delete_backing_data'),
    StateVersionDataRestored: defineAuditedEvent('restore_backing_data'),
    StateVersionDataPermanentlyDeleted: defineAuditedEvent('permanently_delete_backing_data'),
  },
);

export type BackingDataEvent = EventsOf<typeof backingDataEvents>;

export type BackingDataCommand =
  | Message<'SoftDeleteData', { workspace: string; isFinalized: boolean; isNeeded: boolean }>
  | Message<'RestoreData', { workspace: string }>
  | Message<'DeleteDataPermanently', { workspace: string }>;

type BackingDataState = { readonly status: 'kept' | 'soft-deleted' | 'deleted' };

/** Refusals are bad requests, because the vendor responds with 400. */
export const backingData: Decider<BackingDataState, BackingDataCommand, BackingDataEvent> = {
  version: 1,
  initial: { status: 'kept' },
  decide: {
    SoftDeleteData: ({ workspace, isFinalized, isNeeded }, { status }) => {
      if (status !== 'kept') throw badRequest('The data of this state version has been deleted already');
      if (!isFinalized) throw badRequest('Only the data of a finalized state version can be deleted');
      if (isNeeded) throw badRequest('The data of the current state version cannot be deleted');
      return [{ type: 'StateVersionDataSoftDeleted', data: { workspace } }];
    },
    RestoreData: ({ workspace }, { status }) => {
      // Clients look for `transition not allowed`.
      if (status === 'deleted') {
        throw badRequest('The data of this state version has been deleted permanently: transition not allowed');
      }
      return status === 'kept' ? [] : [{ type: 'StateVersionDataRestored', data: { workspace } }];
    },
    DeleteDataPermanently: ({ workspace }, { status }) => {
      if (status !== 'soft-deleted') {
        throw badRequest('Only data that is soft deleted can be deleted permanently');
      }
      return [{ type: 'StateVersionDataPermanentlyDeleted', data: { workspace } }];
    },
  },
  evolve: {
    StateVersionDataSoftDeleted: () => ({ status: 'soft-deleted' }),
    StateVersionDataRestored: () => ({ status: 'kept' }),
    StateVersionDataPermanentlyDeleted: () => ({ status: 'deleted' }),
  },
};
