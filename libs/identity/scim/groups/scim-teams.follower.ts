import { sql, type RecordedEvent } from '#platform/kernel';
import type { Follower } from '#storage/event-store';
import type { DatabaseSession } from '#platform/postgres';
import { continueTrace } from '#platform/tracing';
import type { GroupStatements } from './group-statements.port.js';
import { mapTeams } from './scim-teams.writes.js';

const GROUP_EVENTS = ['ScimGroupCreated', 'ScimGroupUpdated', 'ScimGroupMembersChanged', 'ScimGroupDeleted'];
const TEAM_EVENTS = ['TeamCreated', 'TeamUpdated'];

/**
 * Makes teams match the groups after each change of either: a team that gets an `sso_team_id` later, and the members of
 * a large group that the request of the identity provider has not mapped. It reads the current state instead of trusting
 * the events, so a repeated batch has no effect.
 */
export const createScimTeamsFollower = (statements: GroupStatements): Follower => ({
  name: 'scim_teams',
  batch: 500,
  only: [...GROUP_EVENTS, ...TEAM_EVENTS],
  tables: [],
  follow: async (events, session, store) => {
    for (const [key, cause] of await listChangedKeys(events, session)) {
      const context = { ...cause.context, causation: cause.id };
      const map = () => mapTeams({ store, ids: store.ids, statements }, [key], context, Infinity);
      await continueTrace(cause.traceparent, 'map groups to teams', {}, map);
    }
    return [];
  },
});

/** Causes by the `sso_team_id` of the teams that can differ from their groups. */
type Causes = ReadonlyMap<string, RecordedEvent>;

const listChangedKeys = async (
  events: readonly RecordedEvent[],
  session: Pick<DatabaseSession, 'run'>,
): Promise<Causes> => {
  const groupEvents = events.filter(({ type }) => GROUP_EVENTS.includes(type));
  const groups = new Map(groupEvents.map((event) => [event.stream, event]));
  const teams = new Map(
    events
      .filter(({ type }) => TEAM_EVENTS.includes(type))
      .flatMap((event) => listKeys(event, getTeamKey).map((key) => [key, event] as const)),
  );
  const rows = await session.run<{ id: string; key: string }>(sql`
    select id, coalesce(external_id, display_name) as key from scim_groups
     where id = any (${[...groups.keys()]}::text[])
        or coalesce(external_id, display_name) = any (${[...teams.keys()]}::text[])`);
  return new Map([
    ...groupEvents.flatMap((event) => listKeys(event, getEndedKey).map((key) => [key, event] as const)),
    ...rows.flatMap(({ id, key }) => {
      const cause = groups.get(id) ?? teams.get(key);
      return cause ? [[key, cause] as const] : [];
    }),
  ]);
};

type KeyData = {
  readonly formerKey?: string | null;
  readonly key?: string;
  readonly ssoTeamId?: string | null;
  readonly changes?: { readonly ssoTeamId?: string | null };
};

/** Returns the key that the group had before the event. */
const getEndedKey = ({ formerKey, key }: KeyData): string | null | undefined => formerKey ?? key;

/** Returns the `sso_team_id` that the team has after the event, if the event states it. */
const getTeamKey = ({ ssoTeamId, changes }: KeyData): string | null | undefined => ssoTeamId ?? changes?.ssoTeamId;

const listKeys = ({ data }: RecordedEvent, getKey: (data: KeyData) => string | null | undefined): readonly string[] => {
  const key = getKey(data as KeyData);
  return typeof key === 'string' ? [key] : [];
};
