import { sql, type Sql, type Timestamp } from '#platform/kernel';
import { SITE_LOG } from '#activity/audit-trail-log';
import type { Database } from '#platform/postgres';

/** A log with a checkpoint that the archive does not have, or with a delivery that was interrupted. */
export type DueLog = {
  readonly organization: string;
  readonly origin: string;
  readonly delivered: number;
  readonly treeSize: number;
  readonly planned: number | null;
  readonly plannedSize: number | null;
  readonly plannedDay: string | null;
  readonly plannedDigests: readonly string[];
  /** The size of the newest checkpoint. */
  readonly size: number;
};

/**
 * The newest key of a log names its origin. A plan is given up if its checkpoint no longer exists, as after a restore of an
 * earlier position. The log of the site has no entries to deliver, and witnesses change its checkpoints.
 */
const DUE_LOGS = sql`
  (select k.organization, k.origin, coalesce(d.delivered, 0) as delivered, coalesce(d.tree_size, 0) as "treeSize",
          plan.planned, plan.size as "plannedSize", plan."plannedDay",
          coalesce(plan."plannedDigests", '{}') as "plannedDigests", newest.size
     from (select distinct on (organization) organization, origin
             from audit_trail.log_keys where organization <> ${SITE_LOG} order by organization, position desc) k
    cross join lateral (
          select c.size from audit_trail.signed_checkpoints c
           where c.organization = k.organization and c.origin = k.origin order by c.size desc limit 1) newest
     left join audit_trail.archive_deliveries d on d.organization = k.organization and d.origin = k.origin
     left join lateral (
          select d.planned, c.size, d.planned_day as "plannedDay", d.planned_digests as "plannedDigests" from audit_trail.signed_checkpoints c
           where c.organization = k.organization and c.origin = k.origin and c.size = d.planned_size) plan on true
    where newest.size > coalesce(d.tree_size, 0))`;

/** Returns logs that are due after an organization, by organization. */
export const listDueLogs = (database: Database, after: string, limit: number): Promise<DueLog[]> =>
  database.rows<DueLog>(sql`
    select organization, origin, delivered, "treeSize", planned, "plannedSize", "plannedDay", "plannedDigests", size from ${DUE_LOGS} due
     where organization > ${after} order by organization limit ${limit}`);

/** Returns when the oldest checkpoint was signed that the archive does not have; null if it has all. */
export const findOldestUndelivered = async (database: Database): Promise<Timestamp | null> => {
  const row = await database.row<{ since: Timestamp | null }>(sql`
    select min(c.signed_at) as since from ${DUE_LOGS} due
      join audit_trail.signed_checkpoints c
        on c.organization = due.organization and c.origin = due.origin and c.size > due."treeSize"`);
  return row?.since ?? null;
};

/** Returns the note of a checkpoint. */
export const readCheckpointNote = async (
  database: Database,
  { organization, origin }: Pick<DueLog, 'organization' | 'origin'>,
  size: number,
): Promise<string> => {
  const row = await database.row<{ note: string }>(sql`
    select note from audit_trail.signed_checkpoints
     where organization = ${organization} and origin = ${origin} and size = ${size}`);
  if (!row) throw new Error(`the checkpoint ${size} of ${origin} is missing`);
  return row.note;
};

/** What is delivered next: entries up to `to`, and the checkpoint of this size. */
export type DeliveryPlan = {
  readonly to: number;
  readonly size: number;
  readonly day: string | null;
  readonly digests: readonly string[];
};

/** Records what is delivered next. */
export const planDelivery = (
  { organization, origin }: Pick<DueLog, 'organization' | 'origin'>,
  { to, size, day, digests }: DeliveryPlan,
): Sql => sql`
  insert into audit_trail.archive_deliveries (organization, origin, planned, planned_size, planned_day, planned_digests)
  values (${organization}, ${origin}, ${to}, ${size}, ${day}, ${digests}::text[])
  on conflict (organization, origin) do update
     set planned = excluded.planned, planned_size = excluded.planned_size, planned_day = excluded.planned_day,
         planned_digests = excluded.planned_digests`;

/** Records that what was planned is delivered. */
export const finishDelivery = (
  { organization, origin }: Pick<DueLog, 'organization' | 'origin'>,
  { to, treeSize }: { readonly to: number; readonly treeSize: number },
): Sql => sql`
  update audit_trail.archive_deliveries
     set delivered = ${to}, tree_size = ${treeSize}, planned = null, planned_size = null,
         planned_day = null, planned_digests = '{}'
   where organization = ${organization} and origin = ${origin}`;
