import { Injectable } from '@nestjs/common';
import type { Database } from '#platform/postgres';
import type { Vault } from '#storage/vault';
import {
  findEnabledProvider,
  listEnabledProviders,
  selectProviderById,
  toServiceKeyId,
  type IdentityProviderRow,
} from './identity-providers.view.js';
import { PROVIDER_SETTINGS, type ProviderSettings } from '../protocol/provider-settings.js';

/** The id of the provider that the settings of the server describe. */
export const SETTINGS_PROVIDER_ID = 'idp-settings';

/** The provider that the settings of the server describe: its settings without the secret, and the secret. */
type SettingsProvider = {
  readonly row: IdentityProviderRow;
  readonly clientSecret: string | null;
};

type DescribedProvider = Omit<ProviderSettings, 'hasClientSecret' | 'enabled' | keyof typeof OF_SAML> & {
  readonly clientSecret: string | null;
};

const { protocol, signInUrl, signOutUrl, certificates, provesEmails, serviceCertificate } = PROVIDER_SETTINGS.initial;
/** The settings of the server describe no provider with SAML. */
const OF_SAML = { protocol, signInUrl, signOutUrl, certificates, provesEmails, serviceCertificate };

export const toSettingsProvider = ({ clientSecret, ...settings }: DescribedProvider): SettingsProvider => ({
  row: {
    id: SETTINGS_PROVIDER_ID,
    settings: { ...OF_SAML, ...settings, hasClientSecret: clientSecret !== null, enabled: true },
    createdAt: null,
  },
  clientSecret,
});

/** The providers of a site: those in the database, and the one of the settings. */
@Injectable()
export class ProviderDirectory {
  /** `fromSettings` is null if the settings describe no provider. */
  constructor(
    private readonly database: Database,
    private readonly vault: Vault,
    private readonly fromSettings: SettingsProvider | null,
  ) {}

  get settingsProvider(): IdentityProviderRow | null {
    return this.fromSettings?.row ?? null;
  }

  /** Returns the providers with which people can sign in. The one of the settings comes first. */
  async listEnabled(): Promise<readonly IdentityProviderRow[]> {
    const stored = await listEnabledProviders(this.database);
    return this.fromSettings ? [this.fromSettings.row, ...stored] : stored;
  }

  /** Returns the provider if people can sign in with it; undefined otherwise. */
  async findEnabled(id: string): Promise<IdentityProviderRow | undefined> {
    if (id === SETTINGS_PROVIDER_ID) return this.fromSettings?.row;
    return findEnabledProvider(this.database, id);
  }

  /** As `findEnabled`, for pages of one protocol. */
  async findEnabledWith(required: ProviderSettings['protocol'], id: string): Promise<IdentityProviderRow | undefined> {
    const provider = await this.findEnabled(id);
    return provider?.settings.protocol === required ? provider : undefined;
  }

  /** Returns a provider that is stored, also if it is disabled. */
  findStored(id: string): Promise<IdentityProviderRow | undefined> {
    return this.database.row<IdentityProviderRow>(selectProviderById(id));
  }

  /** Returns the private key of this server at a provider with SAML; null if it is lost. */
  async getServiceKey({ id }: IdentityProviderRow): Promise<string | null> {
    return (await this.vault.open(toServiceKeyId(id))) ?? null;
  }

  /** Returns the client's secret; null for a client without one. */
  async getClientSecret({ id, settings }: IdentityProviderRow): Promise<string | null> {
    if (id === SETTINGS_PROVIDER_ID) return this.fromSettings?.clientSecret ?? null;
    return settings.hasClientSecret ? ((await this.vault.open(id)) ?? null) : null;
  }
}
