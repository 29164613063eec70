import type { OrganizationDeleted, RecordedEvent, Timestamp } from '#platform/kernel';

/** The minute in which a user was active in an organization. */
export type MemberActivity = { readonly organization: string; readonly user: string; readonly minute: Timestamp };

export const ORGANIZATION_DELETED: OrganizationDeleted['type'] = 'OrganizationDeleted';
/** Another service reports what a person did there, perhaps days later. */
const FACT_REPORTED = 'AuditFactReported';

/** Returns the minute of a timestamp, rounded down. */
const toMinute = (time: Timestamp): Timestamp => `${time.slice(0, 'YYYY-MM-DDTHH:MM'.length)}:00.000Z`;

/**
 * Returns the activity that an event shows, or null. A user is active in an organization if a request with a token or
 * session of this user leads to an event of the organization. This includes recorded reads. Effects that the server adds
 * later do not count, nor do facts of other services.
 */
const toMemberActivity = ({ type, organization, time, context }: RecordedEvent): MemberActivity | null => {
  const { accessor, auth, causation } = context;
  if (organization === null || type === FACT_REPORTED || type === ORGANIZATION_DELETED) return null;
  if (accessor.type !== 'users' || auth !== 'Client' || causation !== null) return null;
  return { organization, user: accessor.id, minute: toMinute(time) };
};

/** The change of the view by a batch. Rows of deleted organizations are deleted before the others are written. */
export type ActivityUpdate = { readonly deleted: readonly string[]; readonly activities: readonly MemberActivity[] };

/** Returns a key that is unique for each user in each organization. */
export const toActivityKey = ({ organization, user }: MemberActivity): string => `${organization}/${user}`;

/** Returns the latest activity of each user in each organization, and the organizations that were deleted. */
export const computeActivityUpdate = (events: readonly RecordedEvent[]): ActivityUpdate => {
  const deleted = new Set<string>();
  let latest = new Map<string, MemberActivity>();
  for (const event of events) {
    const { type, organization } = event;
    if (type === ORGANIZATION_DELETED && organization !== null) {
      deleted.add(organization);
      latest = new Map([...latest].filter(([, activity]) => activity.organization !== organization));
    }
    const activity = toMemberActivity(event);
    const key = activity && toActivityKey(activity);
    if (key && activity.minute > (latest.get(key)?.minute ?? '')) latest.set(key, activity);
  }
  return { deleted: [...deleted], activities: [...latest.values()] };
};
