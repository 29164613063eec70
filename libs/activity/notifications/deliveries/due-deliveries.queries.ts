import { sql, type Sql, type Timestamp, type SentTrigger } from '#platform/kernel';
import type { MailRecipient } from '#identity/people';
import { selectEncryptedSecret } from '#storage/vault';
import type { DestinationType } from '../configurations/destinations.js';
import { RECIPIENTS } from '../configurations/notification-configurations.view.js';
import type { MailProgress } from './mail-notification.sender.js';
import type { DeliverySubject } from './notifications.follower.js';

/** A due delivery with everything that its request needs. */
export type DueDelivery = {
  readonly id: string;
  readonly organization: string;
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
  readonly perOrganization: number;
  readonly perHost: number;
};

export type RunningDelivery = Pick<DueDelivery, 'organization' | 'host'>;

type ClaimOptions = DeliveryLimits & {
  readonly now: Date;
  /** When the delivery is due again if this process ends before it has stored a result. */
  readonly retryAt: Date;
  /** Each running request has an entry, which counts for the limits of organizations and hosts, but not for `total`. */
  readonly running: readonly RunningDelivery[];
};

/** Returns the present name of a user or team; null for other callers. `actor` is an expression for an ActorReference. */
const selectName = (actor: string): Sql =>
  sql.raw(`case ${actor} ->> 'type'
    when 'users' then (select u.username from users u where u.id = ${actor} ->> 'id')
    when 'teams' then (select t.name from teams t where t.id = ${actor} ->> 'id') end`);

/**
 * Selects due deliveries within the limits. Organizations take turns, and so do the hosts of an organization: an
 * organization or host with many deliveries, or with slow responses, does not delay others. It reads organizations and
 * hosts one by one from the index, so its cost does not depend on the number of deliveries.
 *
 * `turn` counts the requests of an organization and host, `organization_turn` those of an organization and `host_turn`
 * those of a host, from the running ones on.
 */
const selectDue = ({ total, perOrganization, perHost, now, running }: ClaimOptions): Sql => sql`
  running as (
    select organization, host from jsonb_to_recordset(${sql.json(running)}::jsonb) as list (organization text, host text)),
  destinations as (
    (select organization, host from notifications.deliveries where status = 'pending' order by organization, host limit 1)
    union all
    select following.organization, following.host
      from destinations cross join lateral (
        select d.organization, d.host from notifications.deliveries d
         where d.status = 'pending' and (d.organization, d.host) > (destinations.organization, destinations.host)
         order by d.organization, d.host limit 1) following),
  candidates as (
    select one.id, one.next_attempt_at, t.organization, t.host,
           (select count(*) from running r where r.organization = t.organization and r.host = t.host) + one.number as turn
      from destinations t cross join lateral (
        select id, next_attempt_at, row_number() over (order by next_attempt_at) as number
          from notifications.deliveries
         where status = 'pending' and organization = t.organization and host = t.host and next_attempt_at <= ${now}
         order by next_attempt_at
         limit greatest(${perHost} - (select count(*) from running r where r.host = t.host), 0)) one),
  by_organization as (
    select c.*, (select count(*) from running r where r.organization = c.organization)
                + row_number() over (partition by organization order by turn, next_attempt_at) as organization_turn
      from candidates c),
  by_host as (
    select o.*, (select count(*) from running r where r.host = o.host)
                + row_number() over (partition by host order by organization_turn, next_attempt_at) as host_turn
      from by_organization o where organization_turn <= ${perOrganization}),
  due as (
    select id from by_host where host_turn <= ${perHost} order by organization_turn, next_attempt_at limit ${total})`;

/** Takes due deliveries, as `selectDue` describes. Several processes can run it at the same time. */
export const claimDueDeliveries = (options: ClaimOptions): Sql => sql`
  with recursive ${selectDue(options)},
  available as (
    select d.id from due join notifications.deliveries d on d.id = due.id
     where d.status = 'pending' and d.next_attempt_at <= ${options.now}
       for update of d skip locked),
  claimed as (
    update notifications.deliveries d set attempts = d.attempts + 1, next_attempt_at = ${options.retryAt}
      from available where d.id = available.id
    returning d.id, d.organization, d.host, d.attempts, d.configuration, d.trigger, d.subject, d.created_at, d.progress)
  select d.id, d.organization, d.host, d.attempts, d.configuration, d.trigger, d.subject, d.created_at as "createdAt",
         d.progress, n.enabled and not exists (select from deleted_workspaces w where w.id = n.subscribable) as enabled,
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
         coalesce(greatest(extract(epoch from ${now}::timestamptz - min(next_attempt_at)), 0), 0)::float8 as "oldestSeconds"
    from (select next_attempt_at from notifications.deliveries
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
