import { createHash } from 'node:crypto';
import {
  listEventTypes,
  selectJsonTimestamp,
  sql,
  type EventRegistry,
  type Sql,
  type Timestamp,
} from '#platform/kernel';
import type { Follower } from '#storage/event-store';
import { ASSESSMENT } from '#runs/runs';
import { MAIL_HOST } from '../configurations/destinations.js';
import type { NotifiedAssessment } from './notices.js';
import { listNotifiedEvents, withDestroyResult, type NotifiedEvent } from './notified-events.js';

/** A person, team or service without its name, which belongs to the user and can change. */
export type ActorReference = { readonly type: string; readonly id: string };

/** What a delivery is about, as it is stored: no name of a person. */
export type DeliverySubject = {
  readonly workspace: { readonly id: string; readonly name: string };
  readonly run: {
    readonly id: string;
    readonly message: string;
    readonly createdAt: Timestamp;
    readonly createdBy: ActorReference;
  } | null;
  readonly status: string | null;
  /** When the resources of the workspace are destroyed at the earliest. Absent in deliveries of earlier versions. */
  readonly destroyedFrom?: Timestamp | null;
  /** The result of a health assessment, and the one before. Absent in deliveries of earlier versions. */
  readonly assessment?: NotifiedAssessment | null;
  readonly actor: ActorReference;
};

type NewDelivery = {
  readonly event: string;
  readonly configuration: string;
  readonly organization: string;
  readonly trigger: string;
  readonly host: string;
  readonly time: Timestamp;
  readonly subject: DeliverySubject;
};

/**
 * Whether the run waits for a user after its plan: it has changes, and neither applies them itself nor ends with the plan.
 */
const WAITS_FOR_USER = sql.raw(`not (coalesce((r.options ->> 'autoApply')::boolean, false)
  or coalesce((r.options ->> 'planOnly')::boolean, false) or coalesce((r.options ->> 'savePlan')::boolean, false))
  and (r.has_changes or coalesce((r.options ->> 'allowEmptyApply')::boolean, false))`);

const selectFacts = (alias: string): Sql => sql`jsonb_build_object(
  'id', ${sql.raw(`${alias}.id`)}, 'succeeded', ${sql.raw(`${alias}.succeeded`)}, 'drifted', ${sql.raw(`${alias}.drifted`)},
  'counts', ${sql.raw(`${alias}.counts`)}, 'createdAt', ${selectJsonTimestamp(`${alias}.created_at`)})`;

/** Selects a row for each configuration that has the trigger of an event. */
const selectDeliveries = (events: readonly NotifiedEvent[]): Sql => sql`
  select e.event, n.id as configuration, n.organization, e.trigger, coalesce(n.host, ${MAIL_HOST}) as host, e.time,
         jsonb_build_object(
           'workspace', jsonb_build_object('id', e.workspace_id, 'name', coalesce(e."workspaceName", w.name, '')),
           'run', case when r.id is not null then jsonb_build_object(
             'id', r.id, 'message', r.message,
             'createdAt', ${selectJsonTimestamp('r.created_at')},
             'createdBy', jsonb_build_object('type', r.created_by ->> 'type', 'id', r.created_by ->> 'id')) end,
           'status', e.status, 'destroyedFrom', e."destroyedFrom", 'actor', e.actor,
           'assessment', case when a.id is not null then jsonb_build_object(
             'now', ${selectFacts('a')},
             'before', (select ${selectFacts('p')} from assessment_results p
                         where p.workspace = a.workspace and (p.created_at, p.id) < (a.created_at, a.id)
                         order by p.created_at desc, p.id desc limit 1)) end) as subject
    from (select list.*, coalesce(run.workspace, list.workspace) as workspace_id
            from jsonb_to_recordset(${sql.json(events)}::jsonb) as list (
                   event text, time timestamptz, organization text, trigger text, run text, workspace text, assessment text,
                   "workspaceName" text, status text, "destroyedFrom" text, "ifWaiting" boolean, "ifAutoDestroy" boolean, actor jsonb)
            left join runs run on run.id = list.run) e
    left join runs r on r.id = e.run
    left join assessment_results a on a.id = e.assessment
    left join workspaces w on w.id = e.workspace_id
    join notification_configurations n
      on n.subscribable in (e.workspace_id, e.organization) and n.enabled and e.trigger = any (n.triggers)
         and n.notifies_from <= e.time
   where e.workspace_id is not null and r.source is distinct from ${ASSESSMENT} and (not e."ifWaiting" or ${WAITS_FOR_USER})
     and (not e."ifAutoDestroy" or r.source = 'tfe-infrastructure-lifecycle')`;

/** Triggers that an event can have besides another one. */
const SECOND_TRIGGERS: readonly string[] = ['workspace:auto_destroy_run_results', 'assessment:check_failure'];

/** Returns the same id whenever the event is read again, so that no notification is stored twice. */
const deriveId = ({ event, configuration, trigger }: NewDelivery): string => {
  const result = SECOND_TRIGGERS.includes(trigger) ? ` ${trigger}` : '';
  return `nd-${createHash('sha256').update(`${event} ${configuration}${result}`).digest('hex').slice(0, 32)}`;
};

const insertDeliveries = (deliveries: readonly NewDelivery[]): Sql => sql`
  insert into notifications.deliveries
    (id, configuration, organization, trigger, subject, host, status, created_at, next_attempt_at)
  select id, configuration, organization, trigger, subject, host, 'pending', time, time
    from jsonb_to_recordset(${sql.json(deliveries.map((delivery) => ({ ...delivery, id: deriveId(delivery) })))}::jsonb)
         as list (id text, configuration text, organization text, trigger text, host text, time timestamptz, subject jsonb)
   order by id
  on conflict (id) do nothing`;

/**
 * Stores a pending delivery for each event and each configuration that has its trigger. The job sends them. A batch without
 * such configurations writes nothing.
 */
export const createNotificationsFollower = (registry: EventRegistry): Follower => ({
  name: 'notifications',
  batch: 500,
  only: listEventTypes(registry, ({ notifies }) => notifies !== undefined),
  // Rows contain ids of people, and no names.
  keepEncrypted: true,
  tables: [],
  follow: async (events, session) => {
    const notified = events.flatMap((event) => listNotifiedEvents(registry, event)).flatMap(withDestroyResult);
    if (notified.length === 0) return [];
    const deliveries = await session.run<NewDelivery>(selectDeliveries(notified));
    return deliveries.length === 0 ? [] : [insertDeliveries(deliveries)];
  },
});
