import { sql, type Projection, notFound, type Sql, type Timestamp } from '#platform/kernel';
import type { Database } from '#platform/postgres';
import { buildSecretDeletion } from '#storage/vault';
import { buildSnapshotJson, type StreamSnapshot } from '#storage/event-store';
import { selectStoredAttributes } from '#api/json-api';
import { requireCurrentAccess, requirePermission, SITE_SCOPE, type Actor } from '#api/access';
import { selectOwnedTokens, type OwnedToken } from '#identity/people';
import { PROVIDER_SETTINGS, type ProviderChanges, type ProviderSettings } from '../protocol/provider-settings.js';
import type { IdentityProviderEvent } from './identity-provider.js';

/** The id in the vault of the key of this server at a provider. It is no secret of a client, which the server would send. */
export const toServiceKeyId = (provider: string): string => `${provider}-saml`;

const insertRow = (settings: ProviderSettings, id: string, time: Timestamp): Sql => sql`
  insert into identity_providers (id, settings, created_at) values (${id}, ${sql.json(settings)}, ${time})`;

const changeRow = (changes: ProviderChanges, id: string): Sql => sql`
  update identity_providers set settings = settings || ${sql.json(changes)}::jsonb where id = ${id}`;

const deleteRow = (id: string): Sql => sql`delete from identity_providers where id = ${id}`;

export const identityProviders: Projection<IdentityProviderEvent> = {
  name: 'identity_providers',
  version: PROVIDER_SETTINGS.version,
  tables: ['identity_providers'],
  on: {
    IdentityProviderCreated: (settings, { stream, time }) => insertRow(settings, stream, time),
    IdentityProviderUpdated: ({ changes }, { stream }) => changeRow(changes, stream),
    IdentityProviderDeleted: (_, { stream }) => deleteRow(stream),
    SamlConfigurationCreated: (settings, { stream, time }) => insertRow(settings, stream, time),
    SamlConfigurationUpdated: ({ changes }, { stream }) => changeRow(changes, stream),
    SamlConfigurationEnabled: (_, { stream }) => changeRow({ enabled: true }, stream),
    SamlConfigurationDisabled: (_, { stream }) => changeRow({ enabled: false }, stream),
    SamlConfigurationDestroyed: (_, { stream }) => deleteRow(stream),
  },
};

/** Deletes the client's secret from the vault. `tables` is empty, because the vault is not a view. */
export const providerSecrets: Projection<IdentityProviderEvent> = {
  name: 'identity_provider_secrets',
  tables: [],
  on: {
    IdentityProviderCreated: null,
    IdentityProviderUpdated: ({ changes }, { stream }) =>
      changes.hasClientSecret === false ? buildSecretDeletion(sql`${stream}`) : [],
    IdentityProviderDeleted: (_, { stream }) => buildSecretDeletion(sql`${stream}`),
    SamlConfigurationCreated: null,
    SamlConfigurationUpdated: null,
    SamlConfigurationEnabled: null,
    SamlConfigurationDisabled: null,
    SamlConfigurationDestroyed: (_, { stream }) => buildSecretDeletion(sql`${toServiceKeyId(stream)}`),
  },
};

/** `createdAt` is null for the provider that the settings of the server describe. */
export type IdentityProviderRow = {
  readonly id: string;
  readonly settings: ProviderSettings;
  readonly createdAt: Timestamp | null;
};

const SETTINGS = selectStoredAttributes(PROVIDER_SETTINGS, 'provider.settings');
const COLUMNS = sql`provider.id, ${SETTINGS} as settings, provider.created_at as "createdAt"`;
const ORDER = sql.raw(`order by lower(provider.settings ->> 'name'), provider.id`);

export const selectProviderById = (id: string): Sql =>
  sql`select ${COLUMNS} from identity_providers provider where provider.id = ${id}`;

const requireProviderPermission = (actor: Actor): void =>
  requirePermission(actor, 'manage-identity-providers', SITE_SCOPE);

/** Returns all stored providers by name. Throws the refusal of the permission table if the caller may not see them. */
export const listProviders = async (database: Database, actor: Actor): Promise<readonly IdentityProviderRow[]> => {
  const rows = await database.rows<IdentityProviderRow | { readonly id: null }>(sql`
    select ${COLUMNS} from (select 1 where ${requireCurrentAccess(actor)}) allowed
      left join identity_providers provider on true ${ORDER}`);
  requireProviderPermission(actor);
  return rows.filter((row) => row.id !== null);
};

export type ProviderForCommand = IdentityProviderRow & {
  readonly snapshot: StreamSnapshot;
  /** The tokens for SCIM that belong to the provider. */
  readonly tokens: readonly OwnedToken[];
};

/** Returns the provider; undefined if there is none. Throws the refusal of the permission table. */
export const findProviderForActor = async (
  database: Database,
  actor: Actor,
  id: string,
): Promise<ProviderForCommand | undefined> => {
  const [row] = await database.rows<ProviderForCommand | { readonly id: null }>(sql`
    select ${COLUMNS}, case when provider.id is not null then ${buildSnapshotJson('its')} end as snapshot,
           ${selectOwnedTokens(sql.raw('provider.id'))} as tokens
      from (select 1 where ${requireCurrentAccess(actor)}) allowed
      left join (identity_providers provider join event_store.streams its on its.stream = provider.id)
        on provider.id = ${id}`);
  requireProviderPermission(actor);
  return row && row.id !== null ? row : undefined;
};

/** Returns the provider. Throws `not-found` if there is none, or if the caller may not see it. */
export const loadProviderForCommand = async (
  database: Database,
  actor: Actor,
  id: string,
): Promise<ProviderForCommand> => {
  const row = await findProviderForActor(database, actor, id);
  if (!row) throw notFound();
  return row;
};

const IS_ENABLED = sql.raw(`(provider.settings ->> 'enabled')::boolean`);

/** Returns the providers with which people can sign in, by name. */
export const listEnabledProviders = (database: Database): Promise<IdentityProviderRow[]> =>
  database.rows<IdentityProviderRow>(
    sql`select ${COLUMNS} from identity_providers provider where ${IS_ENABLED} ${ORDER}`,
  );

export const findEnabledProvider = (database: Database, id: string): Promise<IdentityProviderRow | undefined> =>
  database.row<IdentityProviderRow>(sql`${selectProviderById(id)} and ${IS_ENABLED}`);

/** Returns a condition: the site has this many stored providers or more. */
export const hasProviders = (most: number): Sql => sql`(select count(*) from identity_providers) >= ${most}`;
