import { notFound, sql, type Timestamp } from '#platform/kernel';
import type { Actor } from '#api/access';
import { buildLimit, toListPage, type ListPage, type ListRow, type PageRequest } from '#api/json-api';
import type { Database } from '#platform/postgres';
import {
  requireNotificationAccess,
  selectPermittedConfiguration,
  type SubscribableScope,
} from '../configurations/subscribables.queries.js';

export type NotificationDeliveryRow = {
  readonly id: string;
  readonly configuration: string;
  readonly trigger: string;
  readonly status: 'pending' | 'delivered' | 'failed';
  readonly attempts: number;
  readonly workspace: string | null;
  readonly run: string | null;
  readonly createdAt: Timestamp;
  readonly nextAttemptAt: Timestamp | null;
  readonly attemptedAt: Timestamp | null;
  /** Null before the first attempt. */
  readonly encryptedResponse: string | null;
};

const COLUMNS = sql.raw(`d.id, d.configuration, d.trigger, d.status, d.attempts,
  d.subject -> 'workspace' ->> 'id' as workspace, d.subject -> 'run' ->> 'id' as run, d.created_at as "createdAt",
  d.next_attempt_at as "nextAttemptAt", d.attempted_at as "attemptedAt",
  encode(d.response, 'base64') as "encryptedResponse"`);

type DeliveryOwnerColumns = { readonly scope: SubscribableScope; readonly total: number };

/** Returns one page of the deliveries of a configuration, the newest first, and the count of all. */
export const listDeliveries = async (
  database: Database,
  actor: Actor,
  configuration: string,
  page: PageRequest,
): Promise<ListPage<NotificationDeliveryRow>> => {
  const rows = await database.slowRows<ListRow<NotificationDeliveryRow, DeliveryOwnerColumns>>(
    actor,
    sql`
    select to_jsonb(owner) as scope, owner.total, page.*
      from (select owner.*, (select count(*) from notifications.deliveries d where d.configuration = owner.id) as total
              from ${selectPermittedConfiguration(configuration, actor)} owner offset 0) owner
      left join lateral (select ${COLUMNS} from notifications.deliveries d where d.configuration = owner.id
                          order by d.created_at desc, d.id ${buildLimit(page)}) page on true
     order by page."createdAt" desc, page.id`,
  );
  const [first] = rows;
  if (!first) throw notFound();
  requireNotificationAccess(actor, first.scope);
  return toListPage(rows);
};
