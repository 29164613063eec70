import type { Actor } from '#api/access';
import { AggregateCommand, type Operation } from '#storage/event-store';
import type { AuditFactSourceRow } from './audit-fact-sources.queries.js';

export type AuditFactSourceOperations = {
  RegisterAuditFactSource: Operation<
    { organization: string; source: string; description: string; actor: Actor },
    AuditFactSourceRow
  >;
  RemoveAuditFactSource: Operation<{ id: string; actor: Actor }, void>;
};

export class ChangeAuditFactSource<T extends keyof AuditFactSourceOperations> extends AggregateCommand<
  AuditFactSourceOperations,
  T
> {}
