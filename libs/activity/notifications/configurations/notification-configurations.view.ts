import {
  sql,
  type OrganizationDeleted,
  type Projection,
  type Sql,
  type WorkspaceEnd,
  whenWorkspaceEnds,
  notFound,
  type Timestamp,
} from '#platform/kernel';
import type { Database } from '#platform/postgres';
import { buildSecretDeletion, selectEncryptedSecret } from '#storage/vault';
import type { OrganizationEvent } from '#organizations/organizations';
import { type TeamDeleted, selectActiveMembersAmong, selectMailRecipients, type MailRecipient } from '#identity/people';
import { buildSnapshotJson, selectStreamVersions, type StreamSnapshot, type StreamVersion } from '#storage/event-store';
import { requireCurrentAccess, type Actor } from '#api/access';
import { buildLimit, toListPage, type ListPage, type ListRow, type PageRequest } from '#api/json-api';
import type { NotificationConfigurationEvent } from './notification-configuration.js';
import { MAX_MAIL_RECIPIENTS, type DestinationType } from './destinations.js';
import {
  HAS_OWNER,
  JOIN_SCOPE,
  requireNotificationAccess,
  selectPermittedOwner,
  selectScopeColumns,
  type SubscribableReference,
  type SubscribableScope,
} from './subscribables.queries.js';
import { VERIFICATION, type SubscribableType, type Trigger } from './triggers.js';

type SubscribableDeleted = WorkspaceEnd | TeamDeleted | OrganizationDeleted;
type OrganizationImported = Extract<OrganizationEvent, { type: 'OrganizationImported' }>;

const deleteOf = (owner: string): Sql => sql`delete from notification_configurations where subscribable = ${owner}`;

export const notificationConfigurations: Projection<
  NotificationConfigurationEvent | SubscribableDeleted | OrganizationImported
> = {
  name: 'notification_configurations',
  // 2: `users`.
  version: 2,
  tables: ['notification_configurations'],
  on: {
    NotificationConfigurationCreated: (data, { stream, organization, time }) => sql`
      insert into notification_configurations
        (id, organization, subscribable_type, subscribable, name, destination_type, host, triggers, users, enabled,
         notifies_from, created_at, updated_at)
      values (${stream}, ${organization}, ${data.subscribable.type}, ${data.subscribable.id}, ${data.name},
              ${data.destinationType}, ${data.host}, ${data.triggers}::text[], ${data.users}::text[], ${data.enabled},
              ${time}, ${time}, ${time})`,
    NotificationConfigurationUpdated: ({ changes }, { stream, time }) => sql`
      update notification_configurations
         set name = coalesce(${changes.name ?? null}, name), host = coalesce(${changes.host ?? null}, host),
             triggers = coalesce(${changes.triggers ?? null}::text[], triggers),
             users = coalesce(${changes.users ?? null}::text[], users), updated_at = ${time}
       where id = ${stream}`,
    NotificationConfigurationEnabled: (_, { stream, time }) => sql`
      update notification_configurations set enabled = true, notifies_from = ${time}, updated_at = ${time}
       where id = ${stream}`,
    NotificationConfigurationDisabled: (_, { stream, time }) =>
      sql`update notification_configurations set enabled = false, updated_at = ${time} where id = ${stream}`,
    NotificationConfigurationDeleted: (_, { stream }) =>
      sql`delete from notification_configurations where id = ${stream}`,
    ...whenWorkspaceEnds(deleteOf),
    TeamDeleted: (_, { stream }) => deleteOf(stream),
    // The events of an imported organization are in the log again. They were notified where they happened.
    OrganizationImported: (_, { stream, time }) =>
      sql`update notification_configurations set notifies_from = ${time} where organization = ${stream}`,
    OrganizationDeleted: (_, { stream }) => sql`delete from notification_configurations where organization = ${stream}`,
  },
};

type ConfigurationEnd =
  Extract<NotificationConfigurationEvent, { type: 'NotificationConfigurationDeleted' }> | SubscribableDeleted;

const deleteSecretsAndDeliveries = (configurations: Sql): readonly Sql[] => [
  buildSecretDeletion(configurations),
  sql`delete from notifications.deliveries where configuration in (${configurations})`,
];

const deleteOwned = (owner: string): readonly Sql[] =>
  deleteSecretsAndDeliveries(sql`select id from notification_configurations where subscribable = ${owner}`);

/**
 * Deletes URL, token and deliveries with their configuration. `tables` is empty, because neither is a view. It is listed
 * before the projection above, because it finds configurations by their rows. The vault deletes secrets of an organization
 * itself.
 */
export const endedNotificationConfigurations: Projection<ConfigurationEnd> = {
  name: 'ended_notification_configurations',
  tables: [],
  on: {
    NotificationConfigurationDeleted: (_, { stream }) => deleteSecretsAndDeliveries(sql`${stream}`),
    ...whenWorkspaceEnds(deleteOwned),
    TeamDeleted: (_, { stream }) => deleteOwned(stream),
    OrganizationDeleted: (_, { stream }) => sql`delete from notifications.deliveries where organization = ${stream}`,
  },
};

/** Responses of the destination in the document of a configuration. */
const SHOWN_RESPONSES = 3;

export type EncryptedResponse = { readonly delivery: string; readonly encrypted: string };

export type NotificationConfigurationRow = {
  readonly id: string;
  readonly organizationName: string;
  readonly ownerType: SubscribableType;
  readonly owner: string;
  readonly name: string;
  readonly destinationType: DestinationType;
  readonly triggers: readonly Trigger[];
  readonly enabled: boolean;
  /** Ids of the people who get e-mails and are still active members. */
  readonly users: readonly string[];
  /** Null for e-mail, or if the vault has lost the secret. */
  readonly encryptedDestination: string | null;
  /** The last responses of the destination, the newest first. */
  readonly responses: readonly EncryptedResponse[];
  readonly createdAt: Timestamp;
  readonly updatedAt: Timestamp;
};

const LAST_RESPONSES = sql.raw(`coalesce((
    select jsonb_agg(jsonb_build_object('delivery', d.id, 'encrypted', encode(d.response, 'base64'))
                     order by d.attempted_at desc, d.id)
      from (select id, response, attempted_at from notifications.deliveries
             where configuration = n.id and response is not null
             order by attempted_at desc, id limit ${SHOWN_RESPONSES}) d), '[]')`);

const USERS = sql`case when n.destination_type = 'email'
    then ${selectActiveMembersAmong(sql.raw('n.users'), sql.raw('n.organization'))} else '{}' end`;

/** Selects one recipient more than a message can have, so that the excess is noticed. */
export const RECIPIENTS = sql`case when n.destination_type = 'email' then ${selectMailRecipients({
  organization: sql.raw('n.organization'),
  users: sql.raw('n.users'),
  team: sql.raw('n.subscribable'),
  most: MAX_MAIL_RECIPIENTS + 1,
})} end`;

const COLUMNS = sql`n.id, (select o.name from organizations o where o.id = n.organization) as "organizationName",
  n.subscribable_type as "ownerType", n.subscribable as owner, n.name, n.destination_type as "destinationType", n.triggers,
  ${USERS} as users, n.enabled, ${selectEncryptedSecret(sql.raw('n.id'))} as "encryptedDestination", ${LAST_RESPONSES} as responses,
  n.created_at as "createdAt", n.updated_at as "updatedAt"`;

export const selectConfigurationById = (id: string): Sql =>
  sql`select ${COLUMNS} from notification_configurations n where n.id = ${id}`;

/** Returns the configuration. Throws `not-found` if the caller may not manage it. */
export const findConfiguration = async (
  database: Database,
  actor: Actor,
  id: string,
): Promise<NotificationConfigurationRow> => {
  const row = await database.row<NotificationConfigurationRow & SubscribableScope>(sql`
    select ${COLUMNS}, ${selectScopeColumns(actor)} from notification_configurations n ${JOIN_SCOPE}
     where n.id = ${id} and ${HAS_OWNER} and ${requireCurrentAccess(actor)}`);
  if (!row) throw notFound();
  requireNotificationAccess(actor, row);
  return row;
};

export type NotificationConfigurationForCommand = NotificationConfigurationRow &
  SubscribableScope & {
    readonly snapshot: StreamSnapshot;
    /** Versions of the owner and of its organization: their deletions append nothing to the configuration's stream. */
    readonly preconditions: readonly StreamVersion[];
    /** Null unless the destination is e-mail. */
    readonly recipients: readonly MailRecipient[] | null;
    /** Active members of the organization among the requested users. */
    readonly members: readonly string[];
    /** The time of the last test; null before the first one. */
    readonly testedAt: Timestamp | null;
  };

/**
 * Returns the configuration for a change. `users` are the people who the caller wants to get e-mails. Throws `not-found` if
 * the caller may not manage it.
 */
export const loadConfiguration = async (
  database: Database,
  actor: Actor,
  id: string,
  users: readonly string[] = [],
): Promise<NotificationConfigurationForCommand> => {
  const row = await database.row<NotificationConfigurationForCommand>(sql`
    select ${COLUMNS}, ${selectScopeColumns(actor)}, ${buildSnapshotJson('s')} as snapshot,
           ${selectStreamVersions(sql.raw('array[n.subscribable, n.organization]'))} as preconditions,
           ${RECIPIENTS} as recipients,
           ${selectActiveMembersAmong(sql`${users}::text[]`, sql.raw('n.organization'))} as members,
           (select max(d.attempted_at) from notifications.deliveries d
             where d.configuration = n.id and d.trigger = ${VERIFICATION}) as "testedAt"
      from notification_configurations n join event_store.streams s on s.stream = n.id ${JOIN_SCOPE}
     where n.id = ${id} and ${HAS_OWNER} and ${requireCurrentAccess(actor)}`);
  if (!row) throw notFound();
  requireNotificationAccess(actor, row);
  return row;
};

type ConfigurationOwnerColumns = { readonly scope: SubscribableScope; readonly total: number };

/** Returns one page of the configurations of an owner and the count of all, from one statement. */
export const listConfigurations = async (
  database: Database,
  actor: Actor,
  owner: SubscribableReference,
  page: PageRequest,
): Promise<ListPage<NotificationConfigurationRow>> => {
  const rows = await database.slowRows<ListRow<NotificationConfigurationRow, ConfigurationOwnerColumns>>(
    actor,
    sql`
    select to_jsonb(permitted) as scope, permitted.total, page.*
      from (select permitted.*,
                   (select count(*) from notification_configurations n where n.subscribable = permitted.id) as total
              from ${selectPermittedOwner(owner, actor)} permitted offset 0) permitted
      left join lateral (select ${COLUMNS} from notification_configurations n where n.subscribable = permitted.id
                          order by n.name, n.id ${buildLimit(page)}) page on true
     order by page.name, page.id`,
  );
  const [first] = rows;
  if (!first) throw notFound();
  requireNotificationAccess(actor, first.scope);
  return toListPage(rows);
};
