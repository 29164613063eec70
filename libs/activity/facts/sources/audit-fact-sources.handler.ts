import { CommandHandler } from '@nestjs/cqrs';
import { Ids } from '#platform/kernel';
import { refuseTakenName } from '#platform/postgres';
import { type Actor, createResource, changeResource } from '#api/access';
import {
  AggregateCommand,
  type Operation,
  AggregateHandler,
  EventStore,
  getFirstRow,
  type OperationTable,
} from '#storage/event-store';
import {
  type AuditFactSourceRow,
  selectAuditFactSourceById,
  findAuditFactSource,
  loadOrganizationForNewSource,
} from './audit-fact-sources.view.js';
import { auditFactSource } from './audit-fact-source.js';

type AuditFactSourceOperations = {
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

const refuseTaken = refuseTakenName('audit_fact_sources_organization_source_key', 'source');

@CommandHandler(ChangeAuditFactSource)
export class AuditFactSourcesHandler extends AggregateHandler<AuditFactSourceOperations> {
  protected readonly operations: OperationTable<AuditFactSourceOperations> = {
    RegisterAuditFactSource: (input) => this.register(input),
    RemoveAuditFactSource: (input) => this.remove(input),
  };

  constructor(
    private readonly store: EventStore,
    private readonly ids: Ids,
  ) {
    super();
  }

  private async register(
    input: AuditFactSourceOperations['RegisterAuditFactSource']['input'],
  ): Promise<AuditFactSourceRow> {
    const { organization, source, description, actor } = input;
    const id = this.ids.next('afs');
    const rows = await createResource(this.store, auditFactSource, {
      id,
      actor,
      load: () => loadOrganizationForNewSource(this.store.database, actor, organization),
      command: ({ existing: registered }) => ({
        type: 'RegisterAuditFactSource',
        data: { source, description, registered },
      }),
      read: () => [selectAuditFactSourceById(id)],
    }).catch(refuseTaken);
    return getFirstRow<AuditFactSourceRow>(rows);
  }

  private async remove({ id, actor }: AuditFactSourceOperations['RemoveAuditFactSource']['input']): Promise<void> {
    await changeResource(this.store, auditFactSource, {
      actor,
      load: () => findAuditFactSource(this.store.database, actor, id),
      command: { type: 'RemoveAuditFactSource', data: {} },
    });
  }
}
