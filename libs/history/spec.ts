import { Clock, type Timestamp } from '#kernel';
import type { Told } from './sentences.js';

/** Stands, but where a test puts it on. */
export class StandingClock extends Clock {
  private time = Date.parse('2026-11-21T10:00:00.000Z');
  override now(): Date {
    return new Date(this.time);
  }
  /** The time that it is then. */
  pass(seconds: number): string {
    this.time += seconds * 1_000;
    return this.now().toISOString();
  }
}

/** Of a workspace; what it was does not matter. */
export const eventAt = (time: Timestamp): Told => ({
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
