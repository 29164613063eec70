import { sql, type Sql, type Timestamp } from '#kernel';
import type { MailRecipient } from '#people';
import { selectEncryptedSecret } from '#vault';
import type { DestinationType } from '../configurations/destinations.js';
import { RECIPIENTS } from '../configurations/notification-configurations.queries.js';
import type { SentTrigger } from '../configurations/triggers.js';
import type { MailProgress } from './mail-notification.sender.js';
import type { DeliverySubject } from './notifications.follower.js';

/** A due delivery with everything that its request needs. */
export type DueDelivery = {
  readonly id: string;
  readonly host: string;
  readonly attempts: number;
  readonly configuration: string;
  readonly trigger: SentTrigger;
  readonly subject: DeliverySubject;
  readonly createdAt: Timestamp;
  readonly enabled: boolean;
  readonly type: DestinationType;
  readonly encryptedDestination: string | null;
  /** Null unless the destination is e-mail. */
  readonly recipients: readonly MailRecipient[] | null;
  readonly progress: MailProgress | null;
  readonly organizationName: string;
  readonly createdBy: string | null;
  readonly actorName: string | null;
};

export type DeliveryLimits = {
  /** Requests at the same time. */
  readonly total: number;
  readonly perHost: number;
};

type ClaimOptions = DeliveryLimits & {
  readonly now: Date;
  /** When the delivery is due again if this process ends before it has stored a result. */
  readonly retryAt: Date;
  /** Running requests by host. */
  readonly running: Readonly<Record<string, number>>;
};

/** Returns the present name of a user or team; null for other callers. `actor` is an expression for an ActorReference. */
const selectName = (actor: string): Sql =>
  sql.raw(`case ${actor} ->> 'type'
    when 'users' then (select u.username from users u where u.id = ${actor} ->> 'id')
    when 'teams' then (select t.name from teams t where t.id = ${actor} ->> 'id') end`);

/**
 * Takes due deliveries, a few for each host: a host with many of them, or with slow responses, does not delay others. It
 * reads the hosts one by one from the index, so its cost does not depend on the number of deliveries. Several processes can
 * run it at the same time.
 */
export const claimDueDeliveries = ({ total, perHost, now, retryAt, running }: ClaimOptions): Sql => sql`
  with recursive hosts as (
    (select host from notifications.deliveries where status = 'pending' order by host limit 1)
    union all
    select (select d.host from notifications.deliveries d where d.status = 'pending' and d.host > hosts.host
             order by d.host limit 1)
      from hosts where hosts.host is not null),
  due as (
    select one.id
      from hosts cross join lateral (
        select id, next_attempt_at from notifications.deliveries
         where status = 'pending' and host = hosts.host and next_attempt_at <= ${now}
         order by next_attempt_at
         limit greatest(${perHost} - coalesce((${sql.json(running)}::jsonb ->> hosts.host)::integer, 0), 0)
         for update skip locked) one
     order by one.next_attempt_at limit ${total}),
  claimed as (
    update notifications.deliveries d set attempts = d.attempts + 1, next_attempt_at = ${retryAt}
      from due where d.id = due.id
    returning d.id, d.host, d.attempts, d.configuration, d.trigger, d.subject, d.created_at, d.progress)
  select d.id, d.host, d.attempts, d.configuration, d.trigger, d.subject, d.created_at as "createdAt", d.progress,
         n.enabled,
         n.destination_type as type, ${selectEncryptedSecret(sql.raw('n.id'))} as "encryptedDestination",
         ${RECIPIENTS} as recipients, o.name as "organizationName",
         ${selectName(`(d.subject -> 'run' -> 'createdBy')`)} as "createdBy",
         ${selectName(`(d.subject -> 'actor')`)} as "actorName"
    from claimed d
    join notification_configurations n on n.id = d.configuration
    join organizations o on o.id = n.organization`;

export type DeliveryResult = {
  readonly status: 'pending' | 'delivered' | 'failed';
  readonly attemptedAt: Timestamp;
  /** Null unless the status is pending. */
  readonly nextAttemptAt: Date | null;
  readonly response: Buffer;
  /** Null unless the destination is e-mail. */
  readonly progress: MailProgress | null;
};

export const storeResult = (
  id: string,
  { status, attemptedAt, nextAttemptAt, response, progress }: DeliveryResult,
): Sql => sql`
  update notifications.deliveries
     set status = ${status}, attempted_at = ${attemptedAt}, next_attempt_at = ${nextAttemptAt}, response = ${response},
         progress = ${progress && sql.json(progress)}::jsonb
   where id = ${id} and status = 'pending'`;

export type DueCounts = { readonly due: number; readonly oldestSeconds: number };

/** Counts at most this many, so that a backlog does not make the statement slow. */
const MAX_COUNTED = 10_000;

export const countDue = (now: Date): Sql => sql`
  select count(*) as due,
         coalesce(greatest(extract(epoch from ${now}::timestamptz - min(created_at)), 0), 0)::float8 as "oldestSeconds"
    from (select created_at from notifications.deliveries
           where status = 'pending' and next_attempt_at <= ${now} limit ${MAX_COUNTED}) due`;

type DeletionBounds = {
  /** Ended deliveries from before this time are deleted. */
  readonly bound: Date;
  /** Pending deliveries from before this time are deleted if their configuration does not exist. */
  readonly orphanBound: Date;
  readonly most: number;
};

/**
 * Deletes old deliveries, and returns a row for each. A configuration can be deleted after the follower has read it and
 * before the follower has stored a delivery.
 */
export const deleteEndedDeliveries = ({ bound, orphanBound, most }: DeletionBounds): Sql => sql`
  delete from notifications.deliveries where id in (
    (select id from notifications.deliveries where status <> 'pending' and attempted_at < ${bound} limit ${most})
    union all
    (select d.id from notifications.deliveries d
      where d.status = 'pending' and d.created_at < ${orphanBound}
        and not exists (select 1 from notification_configurations n where n.id = d.configuration)
      limit ${most}))
  returning 1`;
