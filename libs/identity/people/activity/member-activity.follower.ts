import { sql, type LogPosition, type RecordedEvent, type Sql, type Timestamp } from '#platform/kernel';
import { isAfter, type EventStore, type Follower } from '#storage/event-store';
import {
  computeActivityUpdate,
  ORGANIZATION_DELETED,
  toActivityKey,
  type ActivityUpdate,
  type MemberActivity,
} from './member-activity.js';

/**
 * Remembers what is already stored for the latest minute, because nearly all events repeat it. A batch is stored if the
 * next batch begins after it. Otherwise it is passed again, or somebody has reset the checkpoint.
 */
export class ActivityMemory {
  private minute: Timestamp = '';
  private readonly stored = new Set<string>();
  private pending: { readonly end: LogPosition; readonly update: ActivityUpdate } | null = null;

  /** Returns the update without activities that are stored already. */
  reduce(events: readonly RecordedEvent[]): ActivityUpdate {
    const [first, last] = [events[0], events.at(-1)];
    if (!first || !last) return { deleted: [], activities: [] };
    if (this.pending && isAfter(first, this.pending.end)) this.remember(this.pending.update);
    else this.stored.clear();
    const { deleted, activities } = computeActivityUpdate(events);
    for (const organization of deleted) this.forget(organization);
    const isNew = (activity: MemberActivity): boolean =>
      activity.minute !== this.minute || !this.stored.has(toActivityKey(activity));
    const update = { deleted, activities: activities.filter(isNew) };
    this.pending = { end: last, update };
    return update;
  }

  private remember({ activities }: ActivityUpdate): void {
    for (const activity of activities) {
      if (activity.minute > this.minute) {
        this.minute = activity.minute;
        this.stored.clear();
      }
      if (activity.minute === this.minute) this.stored.add(toActivityKey(activity));
    }
  }

  private forget(organization: string): void {
    for (const key of this.stored) if (key.startsWith(`${organization}/`)) this.stored.delete(key);
  }
}

/** One for each store, because tests run several servers in a process. */
const memories = new WeakMap<EventStore, ActivityMemory>();

const getMemory = (store: EventStore): ActivityMemory => {
  const memory = memories.get(store) ?? new ActivityMemory();
  memories.set(store, memory);
  return memory;
};

/**
 * Writes when users were last active in organizations. A batch takes one statement at most, and none if it adds nothing
 * to the minute that is stored.
 */
export const memberActivityFollower: Follower = {
  name: 'member_activities',
  batch: 500,
  // It reads no texts of people.
  keepEncrypted: true,
  version: 1,
  tables: ['member_activities'],
  follow: (events, _, store) => Promise.resolve(buildStatements(getMemory(store).reduce(events), events.at(-1))),
  createReplay: () => (events) => Promise.resolve(buildStatements(computeActivityUpdate(events), events.at(-1))),
};

const buildStatements = ({ deleted, activities }: ActivityUpdate, end: LogPosition | undefined): readonly Sql[] => [
  ...(deleted.length > 0
    ? [sql`delete from member_activities where organization = any (${[...deleted]}::text[])`]
    : []),
  ...(end && activities.length > 0 ? [upsertActivities(activities, end)] : []),
];

/**
 * Leaves rows alone that have this minute or a later one, because `on conflict` would lock them. The log can contain an
 * event of an organization after its deletion, for example a lock that was decided before it. A deletion after `end` does
 * not count yet: the rows at a checkpoint must not depend on when the log is read, or `verify` finds them to differ.
 */
const upsertActivities = (activities: readonly MemberActivity[], end: LogPosition): Sql => sql`
  insert into member_activities (organization, user_id, last_active_at)
  select list.organization, list."user", list.minute::timestamptz
    from jsonb_to_recordset(${sql.json(activities)}::jsonb) as list (organization text, "user" text, minute text)
    left join member_activities m on m.organization = list.organization and m.user_id = list."user"
   where (m.last_active_at is null or m.last_active_at < list.minute::timestamptz)
     and not exists (select from event_store.events e
                      where e.stream = list.organization and e.type = ${ORGANIZATION_DELETED}
                         and (e.transaction, e.position) <= (${end.transaction}::xid8, ${end.position}::bigint))
  on conflict (organization, user_id) do update
     set last_active_at = greatest(member_activities.last_active_at, excluded.last_active_at)`;
