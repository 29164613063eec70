import { notFound, sql, type Sql, type Timestamp } from '#platform/kernel';
import { buildSnapshotJson, selectStreamVersions, type StreamSnapshot, type StreamVersion } from '#storage/event-store';
import type { Database } from '#platform/postgres';
import { requireCurrentAccess, type Actor } from '#api/access';
import { buildLimit, toListPage, type ListPage, type ListRow, type PageRequest } from '#api/json-api';
import { selectEncryptedSecret } from '#storage/vault';
import { selectActiveMembersAmong, selectMailRecipients, type MailRecipient } from '#identity/people';
import { MAX_MAIL_RECIPIENTS, type DestinationType } from './destinations.js';
import {
  JOIN_SCOPE,
  requireNotificationAccess,
  selectPermittedOwner,
  selectScopeColumns,
  type SubscribableReference,
  type SubscribableScope,
} from './subscribables.queries.js';
import { VERIFICATION, type SubscribableType, type Trigger } from './triggers.js';

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
     where n.id = ${id} and ${requireCurrentAccess(actor)}`);
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
     where n.id = ${id} and ${requireCurrentAccess(actor)}`);
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
