import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { Clock, forbidden, Ids, Refusal } from '#kernel';
import { EventStore, getFirstRow, newStream, expectVersion, decideWrite } from '#event-store';
import { refuseTakenName } from '#postgres';
import { createEventContext, loadParentOrganization, type Actor } from '#access';
import { readPublicKey } from '#provider-release';
import { gpgKey } from './gpg-key.js';
import { findGpgKey, selectGpgKeyById, type GpgKeyPath, type GpgKeyRow } from './gpg-keys.queries.js';

export class AddGpgKey extends Command<GpgKeyRow> {
  constructor(
    readonly namespace: string,
    readonly asciiArmor: string,
    readonly actor: Actor,
  ) {
    super();
  }
}

/** Moves a key to another organization. */
export class MoveGpgKey extends Command<GpgKeyRow> {
  constructor(
    readonly path: GpgKeyPath,
    readonly namespace: string,
    readonly actor: Actor,
  ) {
    super();
  }
}

export class RemoveGpgKey extends Command<void> {
  constructor(
    readonly path: GpgKeyPath,
    readonly actor: Actor,
  ) {
    super();
  }
}

/**
 * Returns 403 for a namespace that the caller cannot use, because go-tfe drops the text of a 404 (clients.md §8). A
 * namespace that does not exist gets the same response, so callers cannot tell the two apart.
 */
const refuseForeignNamespace = (error: unknown): never => {
  if (error instanceof Refusal && error.kind === 'not-found') throw forbidden('namespace not authorized');
  throw error;
};

const refuseTaken = refuseTakenName('gpg_keys_organization_key_id_key', 'key-id');

@CommandHandler(AddGpgKey)
export class AddGpgKeyHandler implements ICommandHandler<AddGpgKey> {
  constructor(
    private readonly store: EventStore,
    private readonly ids: Ids,
    private readonly clock: Clock,
  ) {}

  async execute({ namespace, asciiArmor, actor }: AddGpgKey): Promise<GpgKeyRow> {
    const id = this.ids.next('gpgkey');
    const { rows } = await this.store
      .handle({
        decider: gpgKey,
        load: async () => {
          const place = await loadParentOrganization(this.store.database, actor, 'manage-providers', namespace);
          const { keyId } = await readPublicKey(asciiArmor, this.clock.now());
          return { ...newStream(id, gpgKey), place, keyId };
        },
        command: ({ keyId }) => ({ type: 'AddGpgKey', data: { keyId, asciiArmor } }) as const,
        organization: ({ place }) => place.organization,
        preconditions: ({ place }) => [expectVersion(place.organization, place.version)],
        context: createEventContext(actor),
        read: () => [selectGpgKeyById(id)],
      })
      .catch(refuseTaken);
    return getFirstRow<GpgKeyRow>(rows);
  }
}

@CommandHandler(MoveGpgKey)
export class MoveGpgKeyHandler implements ICommandHandler<MoveGpgKey> {
  constructor(
    private readonly store: EventStore,
    private readonly ids: Ids,
  ) {}

  /**
   * Removes the key from one organization and adds it to the other under a new id, because each audit trail records
   * only its own part.
   */
  async execute({ path, namespace, actor }: MoveGpgKey): Promise<GpgKeyRow> {
    const work = async (): Promise<GpgKeyRow> => {
      const found = await findGpgKey(this.store.database, actor, 'manage-providers', path);
      if (namespace === found.namespace) return found;
      const place = await loadParentOrganization(this.store.database, actor, 'manage-providers', namespace).catch(
        refuseForeignNamespace,
      );
      const id = this.ids.next('gpgkey');
      const { keyId, asciiArmor } = found;
      const loaded = await this.store.restore(found.id, gpgKey, found.snapshot);
      const { rows } = await this.store.append(
        [
          expectVersion(found.organization, found.organizationVersion),
          expectVersion(place.organization, place.version),
          decideWrite(gpgKey, loaded, found.organization, { type: 'RemoveGpgKey', data: {} }),
          decideWrite(gpgKey, newStream(id, gpgKey), place.organization, {
            type: 'AddGpgKey',
            data: { keyId, asciiArmor },
          }),
        ],
        createEventContext(actor),
        [selectGpgKeyById(id)],
      );
      return getFirstRow<GpgKeyRow>(rows);
    };
    return this.store.untilFirst(work).catch(refuseTaken);
  }
}

@CommandHandler(RemoveGpgKey)
export class RemoveGpgKeyHandler implements ICommandHandler<RemoveGpgKey> {
  constructor(private readonly store: EventStore) {}

  async execute({ path, actor }: RemoveGpgKey): Promise<void> {
    await this.store.handle({
      decider: gpgKey,
      load: async () => {
        const found = await findGpgKey(this.store.database, actor, 'manage-providers', path);
        return { ...(await this.store.restore(found.id, gpgKey, found.snapshot)), found };
      },
      command: () => ({ type: 'RemoveGpgKey', data: {} }) as const,
      organization: ({ found }) => found.organization,
      context: createEventContext(actor),
    });
  }
}
