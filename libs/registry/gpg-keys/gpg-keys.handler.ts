import { CommandHandler } from '@nestjs/cqrs';
import { Clock, forbidden, Ids, Refusal, unprocessable } from '#kernel';
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
import { checkRenewal, readPublicKey } from '#provider-release';
import { gpgKey, type GpgKeyCommand } from './gpg-key.js';
import { ChangeGpgKey, type GpgKeyOperations } from './gpg-keys.commands.js';
import { findGpgKey, findGpgKeyOfOrganization, selectGpgKeyById, type GpgKeyRow } from './gpg-keys.queries.js';

/**
 * Returns 403 for a namespace that the caller cannot use, because go-tfe drops the text of a 404. A
 * namespace that does not exist gets the same response, so callers cannot distinguish them.
 */
const refuseForeignNamespace = (error: unknown): never => {
  if (error instanceof Refusal && error.kind === 'not-found') throw forbidden('namespace not authorized');
  throw error;
};

const refuseTaken = refuseTakenName('gpg_keys_organization_key_id_key', 'key-id');

/** Rejects a text that does not renew the key. The present text gets the refusal of a key that is added twice. */
const requireRenewal = async (present: GpgKeyRow, asciiArmor: string): Promise<void> => {
  if (present.asciiArmor === asciiArmor) throw unprocessable('Key id has already been taken', 'key-id');
  await checkRenewal(present.asciiArmor, asciiArmor);
};

@CommandHandler(ChangeGpgKey)
export class GpgKeysHandler extends AggregateHandler<GpgKeyOperations> {
  protected readonly operations: OperationTable<GpgKeyOperations> = {
    AddGpgKey: (input) => this.add(input),
    MoveGpgKey: (input) => this.store.untilFirst(() => this.move(input)).catch(refuseTaken),
    RenewGpgKey: (input) => this.renew(input),
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
          const present = await findGpgKeyOfOrganization(this.store.database, parent.organization, keyId);
          if (present) await requireRenewal(present, asciiArmor);
          const loaded = present
            ? await this.store.restore(present.id, gpgKey, present.snapshot)
            : newStream(id, gpgKey);
          return { ...loaded, parent, keyId, isPresent: present !== null };
        },
        command: ({ keyId, isPresent }): GpgKeyCommand =>
          isPresent
            ? { type: 'RenewGpgKey', data: { asciiArmor } }
            : { type: 'AddGpgKey', data: { keyId, asciiArmor } },
        organization: ({ parent }) => parent.organization,
        preconditions: ({ parent }) => [expectVersion(parent.organization, parent.version)],
        context: createEventContext(actor),
        read: ({ stream }) => [selectGpgKeyById(stream)],
      })
      .catch(refuseTaken);
    return getFirstRow<GpgKeyRow>(rows);
  }

  private async renew({ path, asciiArmor, actor }: GpgKeyOperations['RenewGpgKey']['input']): Promise<GpgKeyRow> {
    const { rows } = await this.store.handle({
      decider: gpgKey,
      load: async () => {
        const row = await findGpgKey(this.store.database, actor, 'manage-providers', path);
        await readPublicKey(asciiArmor, this.clock.now());
        await requireRenewal(row, asciiArmor);
        return { ...(await this.store.restore(row.id, gpgKey, row.snapshot)), row };
      },
      command: () => ({ type: 'RenewGpgKey', data: { asciiArmor } }) as const,
      organization: ({ row }) => row.organization,
      context: createEventContext(actor),
      read: ({ stream }) => [selectGpgKeyById(stream)],
    });
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
    if (parent.organization === row.organization) return row;
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
