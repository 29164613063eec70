import { z } from 'zod';
import type { EventKind, EventKinds } from '#kernel';
import type { BackingDataEvent } from './backing-data/backing-data.js';

const defineAuditedEvent = (action: string): EventKind<{ workspace: string }> => ({
  schemaVersion: 1,
  topic: 'workspaces',
  schema: z.strictObject({ workspace: z.string() }),
  audit: { resource: 'state_version', action, meta: ({ workspace }) => ({ workspace_id: workspace }) },
});

/**
 * Events of the streams of state versions. Other events of state versions are defined in
 * libs/workspaces/workspaces.events.ts.
 */
export const backingDataEvents: EventKinds<BackingDataEvent> = {
  StateVersionDataSoftDeleted: defineAuditedEvent('soft_delete_backing_data'),
  StateVersionDataRestored: defineAuditedEvent('restore_backing_data'),
  StateVersionDataPermanentlyDeleted: defineAuditedEvent('permanently_delete_backing_data'),
};
