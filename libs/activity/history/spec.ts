import type { Timestamp, OrganizationRecordedEvent } from '#platform/kernel';

/**
 * A resource of a response. Attributes and relationships are `any` like the body of a response
 * (test/support/server.ts).
 */
export type TestHistoryResource = {
  readonly id: string;
  readonly type: string;
  readonly attributes: any;
  readonly relationships: any;
};

/** Creates an event of a workspace at this time; its type does not matter. */
export const createEventAt = (time: Timestamp): OrganizationRecordedEvent => ({
  type: 'WorkspaceLocked',
  data: {},
  id: '0190f3a0-0000-7000-8000-000000000001',
  stream: 'ws-1',
  version: 1,
  schemaVersion: 1,
  organization: 'org-1',
  time,
  context: {
    accessor: { id: 'user-1', type: 'users', name: 'ada' },
    auth: 'Client',
    impersonator: null,
    request: { id: null, address: null, userAgent: null },
    correlation: '',
    causation: null,
  },
  transaction: '1',
  position: 1,
});
