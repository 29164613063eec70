import { CommandHandler } from '@nestjs/cqrs';
import { Clock, forbidden, Ids, Refusal, unprocessable } from '#platform/kernel';
import { getViolatedConstraint, refuseTakenName } from '#platform/postgres';
import { type Actor, createEventContext, loadParentOrganization, createResource, changeResource } from '#api/access';
import {
  AggregateCommand,
  type Operation,
  AggregateHandler,
  EventStore,
  decideWrite,
  expectVersion,
  getFirstRow,
  newStream,
  type OperationTable,
} from '#storage/event-store';
import { checkRenewal, readPublicKey } from '#registry/provider-release';
import {
  type GpgKeyPath,
  type GpgKeyRow,
  findGpgKey,
  findGpgKeyOfOrganization,
  selectGpgKeyById,
  type GpgKeyForCommand,
} from './gpg-keys.queries.js';
import { gpgKey } from './gpg-key.js';

type GpgKeyOperations = {
  /** Adds a key, or renews the text of a key that the organization has. */
  AddGpgKey: Operation<{ namespace: string; asciiArmor: string; actor: Actor }, GpgKeyRow>;
  /** Replaces the text of a key by a later copy of the same key. */
  RenewGpgKey: Operation<{ path: GpgKeyPath; asciiArmor: string; actor: Actor }, GpgKeyRow>;
  /** Moves a key to another organization. */
  MoveGpgKey: Operation<{ path: GpgKeyPath; namespace: string; actor: Actor }, GpgKeyRow>;
  RemoveGpgKey: Operation<{ path: GpgKeyPath; actor: Actor }, void>;
};

export class ChangeGpgKey<T extends keyof GpgKeyOperations> extends AggregateCommand<GpgKeyOperations, T> {}

/**
 * Returns 403 for a namespace that the caller cannot use, because go-tfe drops the text of a 404. A
 * namespace that does not exist gets the same response, so callers cannot distinguish them.
 */
const refuseForeignNamespace = (error: unknown): never => {
  if (error instanceof Refusal && error.kind === 'not-found') throw forbidden('namespace not authorized');
  throw error;
};

const KEY_ID_CONSTRAINT = 'gpg_keys_organization_key_id_key';

const refuseTaken = refuseTakenName(KEY_ID_CONSTRAINT, 'key-id');

const createTakenKeyRefusal = (): Refusal => unprocessable('Key id has already been taken', 'key-id');

/** Rejects a text that does not renew the key. The present text gets the refusal of a key that is added twice. */
const requireRenewal = async (present: GpgKeyRow, asciiArmor: string): Promise<void> => {
  if (present.asciiArmor === asciiArmor) throw createTakenKeyRefusal();
  await checkRenewal(present.asciiArmor, asciiArmor);
};

@CommandHandler(ChangeGpgKey)
export class GpgKeysHandler extends AggregateHandler<GpgKeyOperations> {
  protected readonly operations: OperationTable<GpgKeyOperations> = {
    AddGpgKey: (input) => this.add(input),
    MoveGpgKey: (input) => this.store.retryOnConflict(() => this.move(input)).catch(refuseTaken),
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

  /** Adds the key, or renews the key with this id that the organization has already. */
  private add(input: GpgKeyOperations['AddGpgKey']['input']): Promise<GpgKeyRow> {
    return this.addNew(input).catch((error: unknown) => {
      if (getViolatedConstraint(error) !== KEY_ID_CONSTRAINT) throw error;
      return this.renewPresent(input);
    });
  }

  private async addNew({ namespace, asciiArmor, actor }: GpgKeyOperations['AddGpgKey']['input']): Promise<GpgKeyRow> {
    const id = this.ids.next('gpgkey');
    const rows = await createResource(this.store, gpgKey, {
      id,
      actor,
      load: async () => {
        const parent = await loadParentOrganization(this.store.database, actor, 'manage-providers', namespace);
        const { keyId } = await readPublicKey(asciiArmor, this.clock.now());
        return { ...parent, keyId };
      },
      command: ({ keyId }) => ({ type: 'AddGpgKey', data: { keyId, asciiArmor } }),
      read: () => [selectGpgKeyById(id)],
    });
    return getFirstRow<GpgKeyRow>(rows);
  }

  private renewPresent({ namespace, asciiArmor, actor }: GpgKeyOperations['AddGpgKey']['input']): Promise<GpgKeyRow> {
    return this.renewKey(asciiArmor, actor, async () => {
      const { organization } = await loadParentOrganization(this.store.database, actor, 'manage-providers', namespace);
      const { keyId } = await readPublicKey(asciiArmor, this.clock.now());
      const present = await findGpgKeyOfOrganization(this.store.database, organization, keyId);
      if (!present) throw createTakenKeyRefusal();
      return present;
    });
  }

  private renew({ path, asciiArmor, actor }: GpgKeyOperations['RenewGpgKey']['input']): Promise<GpgKeyRow> {
    return this.renewKey(asciiArmor, actor, async () => {
      const row = await findGpgKey(this.store.database, actor, 'manage-providers', path);
      await readPublicKey(asciiArmor, this.clock.now());
      return row;
    });
  }

  private async renewKey(asciiArmor: string, actor: Actor, find: () => Promise<GpgKeyForCommand>): Promise<GpgKeyRow> {
    const rows = await changeResource(this.store, gpgKey, {
      actor,
      load: async () => {
        const row = await find();
        await requireRenewal(row, asciiArmor);
        return row;
      },
      command: { type: 'RenewGpgKey', data: { asciiArmor } },
      read: ({ id }) => [selectGpgKeyById(id)],
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
        ...parent.preconditions.map(({ stream, version }) => expectVersion(stream, version)),
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
    await changeResource(this.store, gpgKey, {
      actor,
      load: () => findGpgKey(this.store.database, actor, 'manage-providers', path),
      command: { type: 'RemoveGpgKey', data: {} },
    });
  }
}
