import { Inject } from '@nestjs/common';
import { CommandHandler } from '@nestjs/cqrs';
import { Clock, Ids, unprocessable, type Sql } from '#platform/kernel';
import { refuseTakenName } from '#platform/postgres';
import {
  AggregateCommand,
  type Operation,
  AggregateHandler,
  EventStore,
  getFirstRow,
  lockStream,
  raiseConflictWhen,
  type OperationTable,
} from '#storage/event-store';
import { type Actor, createResource, changeResource } from '#api/access';
import { prepareTokenDestruction } from '#identity/people';
import { Vault } from '#storage/vault';
import { type ProviderChanges, type ProviderSettings, checkProviderSettings } from '../protocol/provider-settings.js';
import { ProviderConnections } from '../protocol/provider-connections.service.js';
import { ProviderFault } from '../protocol/provider-fault.js';
import {
  type IdentityProviderRow,
  hasProviders,
  listProviders,
  loadProviderForCommand,
  selectProviderById,
  toServiceKeyId,
  type ProviderForCommand,
} from './identity-providers.view.js';
import { createServiceKey, normalizeCertificates, type ServiceKey } from '../saml/certificates.crypto.js';
import { readMetadataSource, type MetadataSource } from '../saml/metadata-sources.http.js';
import { identityProvider } from './identity-provider.js';
import { getServiceMetadataPath, PUBLIC_URL } from './identity-providers.document.js';
import { ProviderDirectory, SETTINGS_PROVIDER_ID } from './provider-directory.service.js';

/** `clientSecret`: undefined to keep the present one, null for none. */
type ProviderInput<Settings> = MetadataSource & {
  readonly settings: Settings;
  readonly clientSecret: string | null | undefined;
  readonly actor: Actor;
};

type RequiredSettings = Pick<ProviderSettings, 'name'>;

type IdentityProviderOperations = {
  CreateIdentityProvider: Operation<ProviderInput<ProviderChanges & RequiredSettings>, IdentityProviderRow>;
  UpdateIdentityProvider: Operation<ProviderInput<ProviderChanges> & { id: string }, IdentityProviderRow>;
  DeleteIdentityProvider: Operation<{ id: string; actor: Actor }, void>;
};

export class ChangeIdentityProvider<T extends keyof IdentityProviderOperations> extends AggregateCommand<
  IdentityProviderOperations,
  T
> {}

/** The most providers that administrators can create. */
export const MAX_PROVIDERS = 20;

/** No event has this stream. Creations lock it, so that their number is exact. */
const PROVIDERS = 'identity providers';

const refuseTaken = refuseTakenName('identity_providers_name_key');
const refuseTakenIssuer = refuseTakenName('identity_providers_saml_issuer_key', 'issuer');

const refuseLimit = (): never => {
  throw unprocessable(`The site has ${MAX_PROVIDERS} identity providers, the most that it can have. Delete one first`);
};

const requireNames = ({ issuer, clientId }: ProviderChanges): Pick<ProviderSettings, 'issuer' | 'clientId'> => {
  if (issuer === undefined) throw unprocessable("Issuer can't be blank", 'issuer');
  if (clientId === undefined) throw unprocessable("Client id can't be blank", 'client-id');
  return { issuer, clientId };
};

@CommandHandler(ChangeIdentityProvider)
export class IdentityProvidersHandler extends AggregateHandler<IdentityProviderOperations> {
  protected readonly operations: OperationTable<IdentityProviderOperations> = {
    CreateIdentityProvider: (input) => this.create(input),
    UpdateIdentityProvider: (input) => this.update(input),
    DeleteIdentityProvider: (input) => this.delete(input),
  };

  constructor(
    private readonly store: EventStore,
    private readonly ids: Ids,
    private readonly vault: Vault,
    private readonly directory: ProviderDirectory,
    private readonly connections: ProviderConnections,
    private readonly clock: Clock,
    @Inject(PUBLIC_URL) private readonly publicUrl: string,
  ) {
    super();
  }

  private async create(
    input: IdentityProviderOperations['CreateIdentityProvider']['input'],
  ): Promise<IdentityProviderRow> {
    const { clientSecret = null, actor } = input;
    const id = this.ids.next('idp');
    const isSaml = input.settings.protocol === 'saml';
    let key: Promise<ServiceKey> | null = null;
    const rows = await createResource(this.store, identityProvider, {
      id,
      actor,
      load: async () => {
        const present = await listProviders(this.store.database, actor);
        if (present.length >= MAX_PROVIDERS) refuseLimit();
        const settings = {
          ...(isSaml ? { clientId: `${this.publicUrl}${getServiceMetadataPath(id)}` } : {}),
          ...(await this.complete(input, input.settings.protocol ?? 'oidc')),
          hasClientSecret: clientSecret !== null,
        };
        const data = { ...settings, name: input.settings.name, ...requireNames(settings) };
        await this.checkProvider(data, { enabled: !isSaml, protocol: data.protocol ?? 'oidc' });
        // Not before the checks: it costs much.
        if (isSaml) key ??= createServiceKey(this.clock.now());
        const serviceKey = await key;
        const complete = { ...data, serviceCertificate: serviceKey?.certificate ?? null };
        return { organization: null, data: complete, privateKey: serviceKey?.privateKey ?? null };
      },
      command: ({ data }) => ({ type: 'CreateIdentityProvider', data }),
      conditions: () => [lockStream(PROVIDERS), raiseConflictWhen(hasProviders(MAX_PROVIDERS))],
      read: ({ privateKey }) => [
        selectProviderById(id),
        ...this.storeSecret(id, clientSecret),
        ...this.storeSecret(toServiceKeyId(id), privateKey),
      ],
    })
      .catch(refuseTakenIssuer)
      .catch(refuseTaken);
    return getFirstRow<IdentityProviderRow>(rows);
  }

  private async update(
    input: IdentityProviderOperations['UpdateIdentityProvider']['input'],
  ): Promise<IdentityProviderRow> {
    const { id, clientSecret, actor } = input;
    const rows = await changeResource(this.store, identityProvider, {
      actor,
      load: async () => {
        const provider = await this.load(id, actor);
        const settings = await this.complete(input, provider.settings.protocol);
        const keepsSecret = clientSecret === undefined || provider.settings.protocol === 'saml';
        const changes = keepsSecret ? settings : { ...settings, hasClientSecret: clientSecret !== null };
        await this.checkProvider(changes, provider.settings);
        return { ...provider, organization: null, changes };
      },
      command: ({ changes }) => ({
        type: 'UpdateIdentityProvider',
        data: { changes, secretReplaced: Boolean(clientSecret) },
      }),
      read: () => [selectProviderById(id), ...this.storeSecret(id, clientSecret)],
    })
      .catch(refuseTakenIssuer)
      .catch(refuseTaken);
    return getFirstRow<IdentityProviderRow>(rows);
  }

  /** Returns the settings of a request with those of its metadata. Settings that the request names itself count first. */
  private async complete(
    { settings, clientSecret, ...source }: ProviderInput<ProviderChanges>,
    protocol: ProviderSettings['protocol'],
  ): Promise<ProviderChanges> {
    if (protocol === 'oidc') {
      const attribute = source.metadata ? 'metadata' : 'metadata-url';
      if (source.metadata || source.metadataUrl)
        throw unprocessable(`${attribute}: only providers with SAML have it`, attribute);
      return settings;
    }
    if (typeof clientSecret === 'string')
      throw unprocessable('client-secret: providers with SAML have none', 'client-secret');
    const described = await readMetadataSource(source);
    return {
      ...(described && { ...described, certificates: normalizeCertificates(described.certificates, 'metadata') }),
      ...settings,
      ...(settings.certificates && { certificates: normalizeCertificates(settings.certificates, 'certificates') }),
    };
  }

  /** Deletes the tokens of the provider for SCIM in the same append. */
  private async delete({ id, actor }: IdentityProviderOperations['DeleteIdentityProvider']['input']): Promise<void> {
    await changeResource(this.store, identityProvider, {
      actor,
      load: async () => {
        const provider = await this.load(id, actor);
        const destruction = await prepareTokenDestruction(this.store, id, provider.tokens);
        return { ...provider, organization: null, destruction };
      },
      command: { type: 'DeleteIdentityProvider', data: {} },
      writes: ({ destruction }) => destruction.writes,
      read: ({ destruction }) => destruction.statements,
    });
  }

  private async load(id: string, actor: Actor): Promise<ProviderForCommand> {
    if (id === SETTINGS_PROVIDER_ID && this.directory.settingsProvider) {
      await listProviders(this.store.database, actor);
      throw unprocessable('This identity provider comes from the settings CADASTRE_OIDC_*. Change them and restart');
    }
    return loadProviderForCommand(this.store.database, actor, id);
  }

  /**
   * Refuses invalid settings. If the provider gets enabled or gets another issuer, also checks the provider itself, so that
   * a mistake shows now and not when people sign in.
   */
  private async checkProvider(
    changes: ProviderChanges,
    present: Pick<ProviderChanges, 'enabled' | 'issuer'> & Pick<ProviderSettings, 'protocol'>,
  ): Promise<void> {
    checkProviderSettings(changes, present.protocol);
    const { name, issuer = present.issuer, enabled = present.enabled } = changes;
    if (name !== undefined && name.toLowerCase() === this.directory.settingsProvider?.settings.name.toLowerCase()) {
      throw unprocessable('Name has already been taken', 'name');
    }
    if (present.protocol === 'saml') return;
    const isSame = issuer === present.issuer && present.enabled === true;
    if (!enabled || issuer === undefined || isSame) return;
    await this.connections.check(issuer).catch((error: unknown) => {
      if (!(error instanceof ProviderFault)) throw error;
      throw unprocessable(`Issuer cannot be used: ${error.message}. With enabled: false it is not checked`, 'issuer');
    });
  }

  private storeSecret(id: string, clientSecret: string | null | undefined): readonly Sql[] {
    return typeof clientSecret === 'string' ? [this.vault.storeSecret(id, null, clientSecret)] : [];
  }
}
