import { CommandHandler } from '@nestjs/cqrs';
import { calculateJwkThumbprint, exportJWK, exportPKCS8, generateKeyPair } from 'jose';
import { Ids } from '#platform/kernel';
import { changeResource, createSystemContext, type Actor } from '#api/access';
import {
  AggregateCommand,
  AggregateHandler,
  EventStore,
  type Operation,
  type OperationTable,
} from '#storage/event-store';
import { Vault } from '#storage/vault';
import { ALGORITHM, OIDC_KEYS_STREAM, oidcKeys, type OidcPublicKey } from './oidc-keys.js';
import { loadKeysForCommand, toSecretId } from './oidc-keys.view.js';

type OidcKeyOperations = {
  RotateKey: Operation<{ actor: Actor }, void>;
  TrimKeys: Operation<{ actor: Actor }, void>;
  /** Creates the first key of the site. */
  EnsureKey: Operation<Record<never, never>, void>;
};

export class ChangeOidcKeys<T extends keyof OidcKeyOperations> extends AggregateCommand<OidcKeyOperations, T> {}

/** Creates an RSA key of 2,048 bits. The private key is PKCS #8 in PEM. */
const createKeyPair = async (): Promise<{ readonly key: OidcPublicKey; readonly privateKey: string }> => {
  const pair = await generateKeyPair(ALGORITHM, { modulusLength: 2048, extractable: true });
  const { n = '', e = '' } = await exportJWK(pair.publicKey);
  const kid = await calculateJwkThumbprint({ kty: 'RSA', n, e });
  const key = { kty: 'RSA', kid, use: 'sig', alg: ALGORITHM, n, e } as const;
  return { key, privateKey: await exportPKCS8(pair.privateKey) };
};

@CommandHandler(ChangeOidcKeys)
export class OidcKeysHandler extends AggregateHandler<OidcKeyOperations> {
  protected readonly operations: OperationTable<OidcKeyOperations> = {
    RotateKey: ({ actor }) => this.rotate(actor),
    TrimKeys: async ({ actor }) => {
      const load = () => loadKeysForCommand(this.store.database, actor);
      await changeResource(this.store, oidcKeys, { actor, load, command: { type: 'TrimKeys', data: {} } });
    },
    EnsureKey: () => this.ensure(),
  };

  constructor(
    private readonly store: EventStore,
    private readonly ids: Ids,
    private readonly vault: Vault,
  ) {
    super();
  }

  private async rotate(actor: Actor): Promise<void> {
    // Refuses the caller before the server computes a key.
    await loadKeysForCommand(this.store.database, actor);
    const { key, privateKey } = await createKeyPair();
    await changeResource(this.store, oidcKeys, {
      actor,
      load: () => loadKeysForCommand(this.store.database, actor),
      command: { type: 'RotateKey', data: { key } },
      read: () => [this.vault.storeSecret(toSecretId(key.kid), null, privateKey)],
    });
  }

  private async ensure(): Promise<void> {
    const { key, privateKey } = await createKeyPair();
    await this.store.handle({
      decider: oidcKeys,
      load: () => this.store.load(OIDC_KEYS_STREAM, oidcKeys),
      command: () => ({ type: 'EnsureKey', data: { key } }) as const,
      organization: () => null,
      context: createSystemContext('OpenID issuer', this.ids.uuid()),
      read: ({ state }) =>
        state.kids.length > 0 ? [] : [this.vault.storeSecret(toSecretId(key.kid), null, privateKey)],
    });
  }
}
