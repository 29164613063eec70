import type { Actor } from '#api/access';
import { AggregateCommand, type Operation } from '#storage/event-store';
import type { AuditConfigurationRow } from './audit-configurations.queries.js';
import type { TrailSettingsRow } from './audit-trail-settings.queries.js';

/** `organization` is the name of the organization. A setting that is undefined keeps its value. */
export type TrailSettingsOperations = {
  /** `retentionDays`: null keeps entries forever. */
  ChangeAuditTrailRetention: Operation<
    { organization: string; retentionDays: number | null | undefined; actor: Actor },
    TrailSettingsRow
  >;
  SwitchAuditTrail: Operation<
    { organization: string; enabled: boolean | undefined; actor: Actor },
    AuditConfigurationRow
  >;
  /** Records an entry and reads it back. Resolves to the request id, which the entry contains. */
  TestAuditTrail: Operation<{ organization: string; actor: Actor }, string>;
};

export class ChangeTrailSettings<T extends keyof TrailSettingsOperations> extends AggregateCommand<
  TrailSettingsOperations,
  T
> {}
