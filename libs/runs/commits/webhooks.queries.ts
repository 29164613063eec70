import { sql, type Sql, type Timestamp } from '#platform/kernel';
import type { Database } from '#platform/postgres';
import { selectEncryptedSecret } from '#storage/vault';

/** The webhook of a repository. */
type WebhookRow = {
  /** Part of its address, and the id of its secret in the vault. */
  readonly id: string;
  /** Id at the Git host; null if the host has no webhook yet. */
  readonly hostId: string | null;
  readonly checkedAt: Timestamp | null;
};

const COLUMNS = sql.raw('h.id, h.host_id as "hostId", h.checked_at as "checkedAt"');

export const findWebhookOfRepository = (
  database: Database,
  token: string,
  identifier: string,
): Promise<WebhookRow | undefined> =>
  database.row<WebhookRow>(
    sql`select ${COLUMNS} from commits.webhooks h where h.token = ${token} and h.identifier = ${identifier}`,
  );

type NewWebhook = {
  readonly id: string;
  readonly organization: string;
  readonly token: string;
  readonly identifier: string;
};

/** Returns the statement that stores a webhook that the host does not have yet. */
export const insertWebhook = ({ id, organization, token, identifier }: NewWebhook): Sql => sql`
  insert into commits.webhooks (id, organization, token, identifier) values (${id}, ${organization}, ${token}, ${identifier})`;

/** Stores that the webhook was checked. `hostId`: null if the host has none. */
export const storeWebhookCheck = async (
  database: Database,
  id: string,
  hostId: string | null,
  now: Timestamp,
): Promise<void> => {
  await database.rows(sql`update commits.webhooks set host_id = ${hostId}, checked_at = ${now} where id = ${id}`);
};

/** A webhook of a repository that no workspace follows any more. The members of its connection are null if it was deleted. */
export type UnusedWebhook = {
  readonly id: string;
  readonly identifier: string;
  readonly hostId: string | null;
  readonly token: string;
  readonly serviceProvider: string | null;
  readonly apiUrl: string | null;
};

export const listUnusedWebhooks = (
  database: Database,
  now: Timestamp,
  most: number,
): Promise<readonly UnusedWebhook[]> =>
  database.rows<UnusedWebhook>(sql`
    select h.id, h.identifier, h.host_id as "hostId", h.token, oc.service_provider as "serviceProvider", oc.api_url as "apiUrl"
      from commits.webhooks h left join oauth_clients oc on oc.token = h.token
     where (oc.id is null or not exists (
             select 1 from workspaces w
              where w.organization = oc.organization and w.vcs_token = h.token and w.vcs_repository = h.identifier))
       and (h.remove_after is null or h.remove_after <= ${now})
     order by h.remove_after nulls first, h.id limit ${most}`);

/** Stores when the server tries again to remove a webhook. */
export const postponeRemoval = async (database: Database, id: string, until: Timestamp): Promise<void> => {
  await database.rows(sql`update commits.webhooks set remove_after = ${until} where id = ${id}`);
};

export const deleteWebhook = (id: string): Sql => sql`delete from commits.webhooks where id = ${id}`;

/** What the server needs to check a delivery. */
type WebhookForDelivery = {
  readonly serviceProvider: string;
  /** Encrypted, and null if it was deleted. */
  readonly secret: string | null;
};

export const findWebhookForDelivery = (database: Database, id: string): Promise<WebhookForDelivery | undefined> =>
  database.row<WebhookForDelivery>(sql`
    select oc.service_provider as "serviceProvider", ${selectEncryptedSecret(sql.raw('h.id'))} as secret
      from commits.webhooks h join oauth_clients oc on oc.token = h.token where h.id = ${id}`);

/** The second delivery is for what changes while the server reads the repository for the first one. */
const MOST_PENDING = 2;

/** Stores a delivery, unless it is stored already or the server reads its repository anyway. */
export const storeDelivery = async (
  database: Database,
  { webhook, delivery, event }: { readonly webhook: string; readonly delivery: string; readonly event: string },
  now: Timestamp,
): Promise<void> => {
  await database.rows(sql`
    insert into commits.webhook_deliveries (webhook, delivery, event, received_at)
    select ${webhook}, ${delivery}, ${event}, ${now}
     where (select count(*) from (
              select 1 from commits.webhook_deliveries d
               where d.webhook = ${webhook} and d.handled_at is null limit ${MOST_PENDING}) pending) < ${MOST_PENDING}
    on conflict (webhook, delivery) do nothing`);
};

/** A delivery after which its repository was not read yet. */
export type PendingDelivery = {
  readonly webhook: string;
  readonly delivery: string;
  readonly event: string;
  readonly organization: string;
  readonly client: string;
  readonly token: string;
  readonly identifier: string;
};

/** Returns the deliveries in turns of organizations and of their connections, the oldest of each first. */
export const listPendingDeliveries = (database: Database, most: number): Promise<readonly PendingDelivery[]> =>
  database.rows<PendingDelivery>(sql`
    select webhook, delivery, event, organization, client, token, identifier
      from (
        select *, row_number() over (partition by organization order by turn, received_at, delivery) as turn_of_organization from (
        select d.webhook, d.delivery, d.event, h.organization, oc.id as client, h.token, h.identifier, d.received_at,
               row_number() over (partition by h.token order by d.received_at, d.delivery) as turn
          from commits.webhook_deliveries d join commits.webhooks h on h.id = d.webhook join oauth_clients oc on oc.token = h.token
         where d.handled_at is null) deliveries) turns
     order by turn_of_organization, received_at, delivery limit ${most}`);

/** Returns the statement that ends these deliveries. */
export const endDeliveries = (
  deliveries: readonly Pick<PendingDelivery, 'webhook' | 'delivery'>[],
  now: Timestamp,
): Sql => sql`
  update commits.webhook_deliveries d set handled_at = ${now}
    from jsonb_to_recordset(${sql.json(deliveries)}::jsonb) e (webhook text, delivery text)
   where d.webhook = e.webhook and d.delivery = e.delivery`;
