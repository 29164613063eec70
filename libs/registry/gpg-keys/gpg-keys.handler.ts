import { CommandHandler } from '@nestjs/cqrs';
import { Clock, forbidden, Ids, Refusal } from '#kernel';
import {
  AggregateHandler,
  EventStore,
  decideWrite,
  expectVersion,
  getFirstRow,
  newStream,
  type OperationTable,
} from '#event-store';
import { refuseTakenName } from '#postgres';
import { createEventContext, loadParentOrganization } from '#access';
import { readPublicKey } from '#provider-release';
import { gpgKey } from './gpg-key.js';
import { ChangeGpgKey, type GpgKeyOperations } from './gpg-keys.commands.js';
import { findGpgKey, selectGpgKeyById, type GpgKeyRow } from './gpg-keys.queries.js';

/**
 * Returns 403 for a namespace that the caller cannot use, because go-tfe drops the text of a 404 (clients.md §8). A
 * namespace that does not exist gets the same response, so callers cannot distinguish them.
 */
const refuseForeignNamespace = (error: unknown): never => {
  if (error instanceof Refusal && error.kind === 'not-found') throw forbidden('namespace not authorized');
  throw error;
};

const refuseTaken = refuseTakenName('gpg_keys_organization_key_id_key', 'key-id');

@CommandHandler(ChangeGpgKey)
export class GpgKeysHandler extends AggregateHandler<GpgKeyOperations> {
  protected readonly operations: OperationTable<GpgKeyOperations> = {
    AddGpgKey: (input) => this.add(input),
    MoveGpgKey: (input) => this.store.untilFirst(() => this.move(input)).catch(refuseTaken),
    RemoveGpgKey: (input) => this.remove(input),
  };

  constructor(
    private readonly store: EventStore,
    private readonly ids: Ids,
    private readonly clock: Clock,
  ) {
    super();
  }

  private async add({ namespace, asciiArmor, actor }: GpgKeyOperations['AddGpgKey']['input']): Promise<GpgKeyRow> {
    const id = this.ids.next('gpgkey');
    const { rows } = await this.store
      .handle({
        decider: gpgKey,
        load: async () => {
          const parent = await loadParentOrganization(this.store.database, actor, 'manage-providers', namespace);
          const { keyId } = await readPublicKey(asciiArmor, this.clock.now());
          return { ...newStream(id, gpgKey), parent, keyId };
        },
        command: ({ keyId }) => ({ type: 'AddGpgKey', data: { keyId, asciiArmor } }) as const,
        organization: ({ parent }) => parent.organization,
        preconditions: ({ parent }) => [expectVersion(parent.organization, parent.version)],
        context: createEventContext(actor),
        read: () => [selectGpgKeyById(id)],
      })
      .catch(refuseTaken);
    return getFirstRow<GpgKeyRow>(rows);
  }

  /**
   * Removes the key from one organization and adds it to the other under a new id, because each audit trail records
   * only its own part.
   */
  private async move({ path, namespace, actor }: GpgKeyOperations['MoveGpgKey']['input']): Promise<GpgKeyRow> {
    const row = await findGpgKey(this.store.database, actor, 'manage-providers', path);
    if (namespace === row.namespace) return row;
    const parent = await loadParentOrganization(this.store.database, actor, 'manage-providers', namespace).catch(
      refuseForeignNamespace,
    );
    const id = this.ids.next('gpgkey');
    const { keyId, asciiArmor } = row;
    const loaded = await this.store.restore(row.id, gpgKey, row.snapshot);
    const { rows } = await this.store.append(
      [
        expectVersion(row.organization, row.organizationVersion),
        expectVersion(parent.organization, parent.version),
        decideWrite(gpgKey, loaded, row.organization, { type: 'RemoveGpgKey', data: {} }),
        decideWrite(gpgKey, newStream(id, gpgKey), parent.organization, {
          type: 'AddGpgKey',
          data: { keyId, asciiArmor },
        }),
      ],
      createEventContext(actor),
      [selectGpgKeyById(id)],
    );
    return getFirstRow<GpgKeyRow>(rows);
  }

  private async remove({ path, actor }: GpgKeyOperations['RemoveGpgKey']['input']): Promise<void> {
    await this.store.handle({
      decider: gpgKey,
      load: async () => {
        const row = await findGpgKey(this.store.database, actor, 'manage-providers', path);
        return { ...(await this.store.restore(row.id, gpgKey, row.snapshot)), row };
      },
      command: () => ({ type: 'RemoveGpgKey', data: {} }) as const,
      organization: ({ row }) => row.organization,
      context: createEventContext(actor),
    });
  }
}
