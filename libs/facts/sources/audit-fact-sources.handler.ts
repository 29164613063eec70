import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { Ids } from '#kernel';
import { EventStore, getFirstRow, newStream, expectVersion } from '#event-store';
import { refuseTakenName } from '#postgres';
import { createEventContext, type Actor } from '#access';
import { auditFactSource } from './audit-fact-source.js';
import {
  selectAuditFactSourceById,
  findAuditFactSource,
  loadOrganizationForNewSource,
  type AuditFactSourceRow,
} from './audit-fact-sources.queries.js';

export class RegisterAuditFactSource extends Command<AuditFactSourceRow> {
  constructor(
    readonly organization: string,
    readonly source: string,
    readonly description: string,
    readonly actor: Actor,
  ) {
    super();
  }
}

export class RemoveAuditFactSource extends Command<void> {
  constructor(
    readonly id: string,
    readonly actor: Actor,
  ) {
    super();
  }
}

const refuseTaken = refuseTakenName('audit_fact_sources_organization_source_key', 'source');

@CommandHandler(RegisterAuditFactSource)
export class RegisterAuditFactSourceHandler implements ICommandHandler<RegisterAuditFactSource> {
  constructor(
    private readonly store: EventStore,
    private readonly ids: Ids,
  ) {}

  async execute({ organization, source, description, actor }: RegisterAuditFactSource): Promise<AuditFactSourceRow> {
    const id = this.ids.next('afs');
    const { rows } = await this.store
      .handle({
        decider: auditFactSource,
        load: async () => {
          const place = await loadOrganizationForNewSource(this.store.database, actor, organization);
          return { ...newStream(id, auditFactSource), place };
        },
        command: ({ place: { registered } }) =>
          ({ type: 'RegisterAuditFactSource', data: { source, description, registered } }) as const,
        organization: ({ place }) => place.organization,
        holding: ({ place }) => [expectVersion(place.organization, place.version)],
        context: createEventContext(actor),
        read: () => [selectAuditFactSourceById(id)],
      })
      .catch(refuseTaken);
    return getFirstRow<AuditFactSourceRow>(rows);
  }
}

@CommandHandler(RemoveAuditFactSource)
export class RemoveAuditFactSourceHandler implements ICommandHandler<RemoveAuditFactSource> {
  constructor(private readonly store: EventStore) {}

  async execute({ id, actor }: RemoveAuditFactSource): Promise<void> {
    await this.store.handle({
      decider: auditFactSource,
      load: async () => {
        const row = await findAuditFactSource(this.store.database, actor, id);
        return { ...(await this.store.restore(id, auditFactSource, row.snapshot)), row };
      },
      command: () => ({ type: 'RemoveAuditFactSource', data: {} }) as const,
      organization: ({ row }) => row.organization,
      holding: ({ row }) => row.held.map(({ stream, version }) => expectVersion(stream, version)),
      context: createEventContext(actor),
    });
  }
}
