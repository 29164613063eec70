import { sql, type Timestamp } from '#platform/kernel';
import type { TrailEntry } from './trail-entry.js';

/**
 * A row of views.audit_trail_entries: what differs between entries. `entry` is the whole entry in rows of version 1, which
 * lack the last seven columns, and in rows that were written before the upgrade to version 2 was complete. It is null in
 * all others.
 */
export type EntryRow = {
  readonly ordinal: number;
  readonly organization: string;
  readonly timestamp: Timestamp;
  readonly id: string;
  readonly accessor: string;
  readonly resourceType: string;
  readonly action: string;
  readonly resourceId: string;
  readonly actorName: string | null;
  readonly authType: TrailEntry['auth']['type'] | null;
  readonly impersonator: string | null;
  readonly request: string | null;
  readonly address: string | null;
  readonly userAgent: string | null;
  readonly meta: TrailEntry['resource']['meta'];
  readonly entry: TrailEntry | null;
};

/** The columns of an entry `e`, named as in EntryRow. */
export const ENTRY_COLUMNS = sql.raw(`
  e.ordinal, e.organization, e.timestamp, e.id, e.accessor, e.resource_type as "resourceType", e.action,
  e.resource_id as "resourceId", e.actor_name as "actorName", e.auth_type as "authType", e.impersonator, e.request,
  e.address, e.user_agent as "userAgent", e.meta, e.entry`);

export const toTrailEntry = (row: EntryRow): TrailEntry =>
  row.entry ?? {
    id: row.id,
    version: '0',
    type: 'Resource',
    timestamp: row.timestamp,
    auth: {
      accessor_id: row.accessor,
      description: row.actorName ?? row.accessor,
      type: row.authType ?? 'System',
      impersonator_id: row.impersonator,
      organization_id: row.organization,
    },
    request: { id: row.request, address: row.address, user_agent: row.userAgent },
    resource: { id: row.resourceId, type: row.resourceType, action: row.action, meta: row.meta },
  };
