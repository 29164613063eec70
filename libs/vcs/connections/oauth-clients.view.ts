import { sql, type OrganizationDeleted, type Projection, type Sql, type Timestamp } from '#platform/kernel';
import { buildSnapshotJson, selectStreamVersions, type StreamSnapshot, type StreamVersion } from '#storage/event-store';
import type { Database } from '#platform/postgres';
import {
  hasOrganizationName,
  listInOrganization,
  requireCurrentAccess,
  requirePermittedRow,
  type Actor,
  type Permission,
} from '#api/access';
import type { ListPage, PageRequest } from '#api/json-api';
import { buildSecretDeletion } from '#storage/vault';
import type { OauthClientEvent } from './oauth-client.js';

/** Returns the id of the secret with the SSH key of a token. */
export const toSshKeyId = (token: string): string => `${token}-ssh-key`;

/** Returns the id of the secret that renews a token. */
export const toRenewalId = (token: string): string => `${token}-renewal`;

/** Returns the id of the secret of the OAuth application of a client. */
export const toClientSecretId = (client: string): string => `${client}-secret`;

export const oauthClients: Projection<OauthClientEvent | OrganizationDeleted> = {
  name: 'oauth_clients',
  version: 1,
  tables: ['oauth_clients'],
  on: {
    OauthClientCreated: (created, { stream, organization, time }) => sql`
      insert into oauth_clients (id, organization, name, service_provider, http_url, api_url, organization_scoped, projects,
                                 key, token_has_ssh_key, created_at, updated_at)
      values (${stream}, ${organization}, ${created.name}, ${created.serviceProvider}, ${created.httpUrl}, ${created.apiUrl},
              ${created.organizationScoped}, ${JSON.stringify(created.projects)}, ${created.key ?? null}, false, ${time}, ${time})`,
    OauthClientUpdated: ({ changes }, { stream, time }) => sql`
      update oauth_clients
         set updated_at = ${time}
             ${changes.name === undefined ? sql.raw('') : sql`, name = ${changes.name}`}
             ${changes.organizationScoped === undefined ? sql.raw('') : sql`, organization_scoped = ${changes.organizationScoped}`}
             ${changes.projects === undefined ? sql.raw('') : sql`, projects = ${JSON.stringify(changes.projects)}`}
             ${changes.key === undefined ? sql.raw('') : sql`, key = ${changes.key}`}
       where id = ${stream}`,
    OauthClientSecretReplaced: (_, { stream, time }) =>
      sql`update oauth_clients set updated_at = ${time} where id = ${stream}`,
    OauthTokenCreated: ({ token, serviceProviderUser }, { stream, time }) => sql`
      update oauth_clients
         set token = ${token}, token_user = ${serviceProviderUser}, token_has_ssh_key = false, token_created_at = ${time}
       where id = ${stream}`,
    OauthTokenAdded: ({ token, serviceProviderUser }, { stream, time }) => sql`
      update oauth_clients
         set token = ${token}, token_user = ${serviceProviderUser}, token_has_ssh_key = false, token_created_at = ${time},
             updated_at = ${time}
       where id = ${stream}`,
    OauthTokenReplaced: ({ serviceProviderUser }, { stream, time }) => sql`
      update oauth_clients
         set token_user = ${serviceProviderUser}, token_refused_at = null, updated_at = ${time}
       where id = ${stream}`,
    OauthTokenRefused: (_, { stream, time }) =>
      sql`update oauth_clients set token_refused_at = ${time} where id = ${stream}`,
    OauthTokenAccepted: (_, { stream }) => sql`update oauth_clients set token_refused_at = null where id = ${stream}`,
    OauthTokenSshKeyStored: (_, { stream }) =>
      sql`update oauth_clients set token_has_ssh_key = true where id = ${stream}`,
    OauthTokenDestroyed: (_, { stream }) => sql`
      update oauth_clients
         set token = null, token_user = null, token_has_ssh_key = false, token_created_at = null, token_refused_at = null
       where id = ${stream}`,
    OauthClientDestroyed: (_, { stream }) => sql`delete from oauth_clients where id = ${stream}`,
    OrganizationDeleted: (_, { stream }) => sql`delete from oauth_clients where organization = ${stream}`,
  },
};

/** Returns the statement that ends the renewal of tokens. `condition`: on rows of `connections.token_renewals`. */
export const buildRenewalsEnd = (condition: Sql): Sql => sql`
  with ended as (delete from connections.token_renewals where ${condition} returning token)
  ${buildSecretDeletion(sql`select token || ${toRenewalId('')}::text from ended`)}`;

type SecretsEnded = Extract<OauthClientEvent, { type: 'OauthTokenDestroyed' | 'OauthClientDestroyed' }>;

/** Deletes secrets from the vault, and what renews tokens. `tables` is empty, because both are no views. */
export const oauthTokenSecrets: Projection<SecretsEnded | OrganizationDeleted> = {
  name: 'oauth_token_secrets',
  tables: [],
  on: {
    OauthTokenDestroyed: ({ token }) => sql`
      with ended as (delete from connections.token_renewals where token = ${token})
      ${buildSecretDeletion(sql`${token}, ${toSshKeyId(token)}, ${toRenewalId(token)}`)}`,
    OauthClientDestroyed: (_, { stream }) => buildSecretDeletion(sql`${toClientSecretId(stream)}`),
    OrganizationDeleted: (_, { stream }) => buildRenewalsEnd(sql`organization = ${stream}`),
  },
};

export type OauthClientRow = {
  readonly id: string;
  readonly organization: string;
  readonly organizationName: string;
  readonly name: string | null;
  readonly serviceProvider: string;
  readonly httpUrl: string;
  readonly apiUrl: string;
  readonly organizationScoped: boolean;
  /** Ids of the projects that exist. */
  readonly projects: readonly string[];
  /** The client id of the OAuth application; null for a connection with an access token. */
  readonly key: string | null;
  /** Id of the token; null before the first one, and after it was destroyed. */
  readonly token: string | null;
  readonly tokenUser: string | null;
  readonly tokenHasSshKey: boolean;
  readonly tokenCreatedAt: Timestamp | null;
  /** Since when the Git host refuses the token; null if it does not. */
  readonly tokenRefusedAt: Timestamp | null;
  readonly createdAt: Timestamp;
  readonly updatedAt: Timestamp;
};

const COLUMNS = sql.raw(`
  c.id, c.organization, o.name as "organizationName", c.name, c.service_provider as "serviceProvider",
  c.http_url as "httpUrl", c.api_url as "apiUrl", c.organization_scoped as "organizationScoped",
  array(select p.id from projects p where p.organization = c.organization and c.projects ? p.id order by p.id) as projects,
  c.key, c.token, c.token_user as "tokenUser", c.token_has_ssh_key as "tokenHasSshKey", c.token_created_at as "tokenCreatedAt",
  c.token_refused_at as "tokenRefusedAt",
  c.created_at as "createdAt", c.updated_at as "updatedAt"`);

const FROM = sql.raw('from oauth_clients c join organizations o on o.id = c.organization');

export const selectOauthClientById = (id: string): Sql => sql`select ${COLUMNS} ${FROM} where c.id = ${id}`;

/** A row with what a command needs. */
type ForCommand = {
  readonly snapshot: StreamSnapshot;
  readonly preconditions: readonly StreamVersion[];
  /** The requested projects that exist in the organization. */
  readonly existingProjects: readonly string[];
};

export type OauthClientForCommand = OauthClientRow & ForCommand;

const selectForCommand = (projects: readonly string[]): Sql => sql`
  ${buildSnapshotJson('s')} as snapshot, ${selectStreamVersions(sql.raw('array[c.organization]'))} as preconditions,
  ${selectExistingProjects(projects, sql.raw('c.organization'))} as "existingProjects"`;

const selectExistingProjects = (projects: readonly string[], organization: Sql): Sql =>
  sql`array(select p.id from projects p where p.organization = ${organization} and p.id = any (${projects}::text[]))`;

/** Returns the row of a client or of the client of a token. Throws the refusal of the permission table. */
const findForCommand = async (
  database: Database,
  actor: Actor,
  condition: Sql,
  projects: readonly string[],
): Promise<OauthClientForCommand> => {
  const row = await database.row<OauthClientForCommand>(sql`
    select ${COLUMNS}, ${selectForCommand(projects)} ${FROM} join event_store.streams s on s.stream = c.id
     where ${condition} and ${requireCurrentAccess(actor)}`);
  return requirePermittedRow(actor, 'manage-vcs-connections', row);
};

export const findOauthClientForCommand = (
  database: Database,
  actor: Actor,
  id: string,
  projects: readonly string[] = [],
): Promise<OauthClientForCommand> => findForCommand(database, actor, sql`c.id = ${id}`, projects);

export const findOauthTokenForCommand = (
  database: Database,
  actor: Actor,
  token: string,
): Promise<OauthClientForCommand> => findForCommand(database, actor, sql`c.token = ${token}`, []);

type OrganizationForClient = Omit<ForCommand, 'snapshot'> & { readonly organization: string };

export const loadOrganizationForClient = async (
  database: Database,
  actor: Actor,
  name: string,
  projects: readonly string[],
): Promise<OrganizationForClient> => {
  const row = await database.row<OrganizationForClient>(sql`
    select o.id as organization, ${selectStreamVersions(sql.raw('array[o.id]'))} as preconditions,
           ${selectExistingProjects(projects, sql.raw('o.id'))} as "existingProjects"
      from organizations o where ${hasOrganizationName('o', name)} and ${requireCurrentAccess(actor)}`);
  return requirePermittedRow(actor, 'manage-vcs-connections', row);
};

/** Returns a client. Throws the refusal of the permission table if the caller lacks the permission. */
export const findOauthClient = async (
  database: Database,
  actor: Actor,
  permission: Permission,
  id: string,
): Promise<OauthClientRow> => {
  const row = await database.row<OauthClientRow>(
    sql`select ${COLUMNS} ${FROM} where c.id = ${id} and ${requireCurrentAccess(actor)}`,
  );
  return requirePermittedRow(actor, permission, row);
};

/** Returns the client of a token. `organization`: the name of the organization that it must belong to; null for any. */
export const findOauthToken = async (
  database: Database,
  actor: Actor,
  token: string,
  organization: string | null = null,
): Promise<OauthClientRow> => {
  const isOfOrganization = organization === null ? sql.raw('true') : hasOrganizationName('o', organization);
  const row = await database.row<OauthClientRow>(
    sql`select ${COLUMNS} ${FROM} where c.token = ${token} and ${isOfOrganization} and ${requireCurrentAccess(actor)}`,
  );
  return requirePermittedRow(actor, 'read-vcs-connections', row);
};

/** The workspace that is to use a connection. */
type ConnectionUser = { readonly organization: string; readonly project: string };

/**
 * Returns the client of a token, if workspaces of the project may use it; undefined otherwise. Only for callers whose permission on
 * the workspace was checked.
 */
export const findOauthClientForUse = (
  database: Database,
  token: string,
  { organization, project }: ConnectionUser,
): Promise<OauthClientRow | undefined> =>
  database.row<OauthClientRow>(sql`
    select ${COLUMNS} ${FROM}
     where c.token = ${token} and c.organization = ${organization} and (c.organization_scoped or c.projects ? ${project})`);

const LIST = {
  permission: 'read-vcs-connections',
  columns: COLUMNS,
  from: FROM,
  order: sql.raw('"createdAt", id'),
} as const;

/** Returns one page of the clients of an organization and the count of all, from one statement. */
export const listOauthClients = (
  database: Database,
  actor: Actor,
  organization: string,
  page: PageRequest,
): Promise<ListPage<OauthClientRow> & { readonly organization: string }> =>
  listInOrganization(database, actor, { ...LIST, where: sql.raw('c.organization = owner.id'), organization }, page);

/** Returns the clients with these ids that exist, for callers that may read connections. */
export const listOauthClientsByIds = (database: Database, ids: readonly string[]): Promise<readonly OauthClientRow[]> =>
  database.rows<OauthClientRow>(sql`select ${COLUMNS} ${FROM} where c.id = any (${ids}::text[]) order by c.id`);

/** Like `listOauthClients`, without clients that have no token. */
export const listOauthTokens = (
  database: Database,
  actor: Actor,
  organization: string,
  page: PageRequest,
): Promise<ListPage<OauthClientRow> & { readonly organization: string }> =>
  listInOrganization(
    database,
    actor,
    { ...LIST, where: sql.raw('c.organization = owner.id and c.token is not null'), organization },
    page,
  );
