import { z } from 'zod';
import { defineEvents, type EventKinds } from '#kernel';
import { inWorkspace } from '#access/rules';
import type { BackingDataEvent } from './backing-data/backing-data.js';

const defineAuditedEvent = (action: string) => ({
  schema: z.strictObject({ workspace: z.string() }),
  audit: { action, meta: ({ workspace }: { readonly workspace: string }) => ({ workspace_id: workspace }) },
  live: 'changed' as const,
  ids: { refersTo: { workspace: ['ws'] } },
});

/**
 * Events of the streams of state versions. Other events of state versions are defined in
 * libs/workspaces/workspaces.events.ts.
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
) satisfies EventKinds<BackingDataEvent>;
