import { CommandHandler } from '@nestjs/cqrs';
import { Ids } from '#platform/kernel';
import {
  AggregateHandler,
  EventStore,
  expectVersion,
  getFirstRow,
  newStream,
  type OperationTable,
} from '#storage/event-store';
import { refuseTakenName } from '#platform/postgres';
import { createEventContext } from '#api/access';
import { auditFactSource } from './audit-fact-source.js';
import { ChangeAuditFactSource, type AuditFactSourceOperations } from './audit-fact-sources.commands.js';
import {
  selectAuditFactSourceById,
  findAuditFactSource,
  loadOrganizationForNewSource,
  type AuditFactSourceRow,
} from './audit-fact-sources.queries.js';

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
    const { rows } = await this.store
      .handle({
        decider: auditFactSource,
        load: async () => {
          const parent = await loadOrganizationForNewSource(this.store.database, actor, organization);
          return { ...newStream(id, auditFactSource), parent };
        },
        command: ({ parent }) =>
          ({ type: 'RegisterAuditFactSource', data: { source, description, registered: parent.existing } }) as const,
        organization: ({ parent }) => parent.organization,
        preconditions: ({ parent }) => [expectVersion(parent.organization, parent.version)],
        context: createEventContext(actor),
        read: () => [selectAuditFactSourceById(id)],
      })
      .catch(refuseTaken);
    return getFirstRow<AuditFactSourceRow>(rows);
  }

  private async remove({ id, actor }: AuditFactSourceOperations['RemoveAuditFactSource']['input']): Promise<void> {
    await this.store.handle({
      decider: auditFactSource,
      load: async () => {
        const row = await findAuditFactSource(this.store.database, actor, id);
        return { ...(await this.store.restore(id, auditFactSource, row.snapshot)), row };
      },
      command: () => ({ type: 'RemoveAuditFactSource', data: {} }) as const,
      organization: ({ row }) => row.organization,
      preconditions: ({ row }) => row.preconditions.map(({ stream, version }) => expectVersion(stream, version)),
      context: createEventContext(actor),
    });
  }
}
