import {
  type UniqueNames,
  claimNames,
  sql,
  type OrganizationDeleted,
  type Projection,
  notFound,
  type Sql,
  type Timestamp,
} from '#platform/kernel';
import type { Database } from '#platform/postgres';
import {
  type TeamDeleted,
  requireTeamChange,
  selectTeamScope,
  selectTokensOfWorkload,
  type OwnedToken,
  type TeamScope,
} from '#identity/people';
import { buildSnapshotJson, selectStreamVersions, type StreamSnapshot, type StreamVersion } from '#storage/event-store';
import { buildLimit, toListPage, type ListPage, type ListRow, type PageRequest } from '#api/json-api';
import { requireCurrentAccess, selectPermittedScopes, type Actor } from '#api/access';
import type { WorkloadIdentityEvent, WorkloadIdentitySettings } from './workload-identity.js';

export const WORKLOAD_IDENTITY_NAMES: UniqueNames = {
  table: 'workload_identities',
  scope: ['team'],
  constraint: 'workload_identities_team_name_key',
  noun: 'workload identities of a team',
};

export const workloadIdentities: Projection<WorkloadIdentityEvent | TeamDeleted | OrganizationDeleted> = {
  name: 'workload_identities',
  version: 1,
  tables: ['workload_identities'],
  on: {
    WorkloadIdentityCreated: (identity, { stream, organization, time }) => sql`
      insert into workload_identities
        (id, organization, team, name, description, issuer, audience, claims, token_minutes, enabled, created_at)
      values (${stream}, ${organization}, ${identity.team}, ${identity.name}, ${identity.description},
              ${identity.issuer}, ${identity.audience}, ${sql.json(identity.claims)}, ${identity.tokenMinutes},
              ${identity.enabled}, ${time})`,
    WorkloadIdentityUpdated: ({ changes }, { stream }) => sql`
      update workload_identities
         set name = coalesce(${changes.name ?? null}, name),
             description = case when ${changes.description !== undefined} then ${changes.description ?? null}
                                else description end,
             issuer = coalesce(${changes.issuer ?? null}, issuer),
             audience = case when ${changes.audience !== undefined} then ${changes.audience ?? null}
                             else audience end,
             claims = coalesce(${changes.claims ? sql.json(changes.claims) : null}::jsonb, claims),
             token_minutes = coalesce(${changes.tokenMinutes ?? null}, token_minutes),
             enabled = coalesce(${changes.enabled ?? null}, enabled)
       where id = ${stream}`,
    WorkloadIdentityDeleted: (_, { stream }) => sql`delete from workload_identities where id = ${stream}`,
    TeamDeleted: (_, { stream }) => sql`delete from workload_identities where team = ${stream}`,
    OrganizationDeleted: (_, { stream }) => sql`delete from workload_identities where organization = ${stream}`,
  },
};

/** Keeps names unique regardless of case. `tables` is empty, because a rebuild must accept names that are older. */
export const workloadIdentityNames: Projection<
  Extract<WorkloadIdentityEvent, { type: 'WorkloadIdentityCreated' | 'WorkloadIdentityUpdated' }>
> = {
  name: 'workload_identity_names',
  tables: [],
  on: {
    WorkloadIdentityCreated: (_, { stream }) => claimNames(WORKLOAD_IDENTITY_NAMES, [stream]),
    WorkloadIdentityUpdated: ({ changes }, { stream }) =>
      changes.name === undefined ? null : claimNames(WORKLOAD_IDENTITY_NAMES, [stream]),
  },
};

export type WorkloadIdentityRow = WorkloadIdentitySettings & {
  readonly id: string;
  readonly organization: string;
  readonly team: string;
  readonly createdAt: Timestamp;
};

const COLUMNS = sql.raw(`w.id, w.organization, w.team, w.name, w.description, w.issuer, w.audience, w.claims,
  w.token_minutes as "tokenMinutes", w.enabled, w.created_at as "createdAt"`);

export const selectWorkloadIdentityById = (id: string): Sql =>
  sql`select ${COLUMNS} from workload_identities w where w.id = ${id}`;

/**
 * Throws the refusal of the permission table if the caller may not create tokens of the team: an identity is a way to get
 * such tokens.
 */
const requireTokenManagement = (actor: Actor, team: TeamScope): void =>
  requireTeamChange(actor, 'manage-team-tokens', team);

export type WorkloadIdentityForCommand = WorkloadIdentityRow & {
  readonly scope: TeamScope;
  readonly snapshot: StreamSnapshot;
  /** Versions of the team and of the organization: their deletions append nothing to the identity's stream. */
  readonly preconditions: readonly StreamVersion[];
  /** Tokens that the identity has issued, including expired ones; none unless the change ends them. */
  readonly tokens: readonly OwnedToken[];
};

const selectScope = (actor: Actor): Sql => selectTeamScope(actor, sql.raw('w.team'));

/** Returns the identity. Throws `not-found` if the caller may not manage it. */
export const findWorkloadIdentity = async (
  database: Database,
  actor: Actor,
  id: string,
): Promise<WorkloadIdentityRow> => {
  const row = await database.row<WorkloadIdentityRow & Pick<WorkloadIdentityForCommand, 'scope'>>(sql`
    select ${COLUMNS}, ${selectScope(actor)} as scope
      from workload_identities w where w.id = ${id} and ${requireCurrentAccess(actor)}`);
  if (!row) throw notFound();
  requireTokenManagement(actor, row.scope);
  return row;
};

/** Returns the identity for a change. Throws `not-found` if the caller may not manage it. */
export const loadWorkloadIdentity = async (
  database: Database,
  actor: Actor,
  id: string,
  { endsTokens }: { readonly endsTokens: boolean },
): Promise<WorkloadIdentityForCommand> => {
  const row = await database.row<WorkloadIdentityForCommand>(sql`
    select ${COLUMNS}, ${selectScope(actor)} as scope, ${buildSnapshotJson('s')} as snapshot,
           ${selectStreamVersions(sql.raw('array[w.team, w.organization]'))} as preconditions,
           ${endsTokens ? selectTokensOfWorkload(sql.raw('w.id'), sql.raw('w.team')) : sql.raw(`'[]'::jsonb`)} as tokens
      from workload_identities w join event_store.streams s on s.stream = w.id
     where w.id = ${id} and ${requireCurrentAccess(actor)}`);
  if (!row) throw notFound();
  requireTokenManagement(actor, row.scope);
  return row;
};

type TeamForNewIdentity = {
  readonly team: string;
  readonly organization: string;
  readonly scope: TeamScope;
  readonly preconditions: readonly StreamVersion[];
  /** Number of the team's identities. */
  readonly existing: number;
};

/** Returns the team of a new identity. Throws `not-found` if the caller may not create tokens of the team. */
export const loadTeamForNewIdentity = async (
  database: Database,
  actor: Actor,
  team: string,
): Promise<TeamForNewIdentity> => {
  const row = await database.row<TeamForNewIdentity>(sql`
    select parent.id as team, parent.organization, ${selectTeamScope(actor, sql.raw('parent.id'))} as scope,
           ${selectStreamVersions(sql.raw('array[parent.id, parent.organization]'))} as preconditions,
           (select count(*) from workload_identities w where w.team = parent.id) as existing
      from teams parent where parent.id = ${team} and ${requireCurrentAccess(actor)}`);
  if (!row) throw notFound();
  requireTokenManagement(actor, row.scope);
  return row;
};

/** Returns one page of a team's identities and the count of all, from one statement. */
export const listWorkloadIdentities = async (
  database: Database,
  actor: Actor,
  team: string,
  page: PageRequest,
): Promise<ListPage<WorkloadIdentityRow>> => {
  const visible = selectPermittedScopes(
    actor,
    'read-teams',
    sql`select parent.id as team, parent.organization, ${selectTeamScope(actor, sql.raw('parent.id'))} as scope
          from teams parent where parent.id = ${team} and ${requireCurrentAccess(actor)}`,
  );
  const rows = await database.slowRows<ListRow<WorkloadIdentityRow, { scope: TeamScope; total: number }>>(
    actor,
    sql`
    select owner.scope, page.*,
           (select count(*) from workload_identities w where w.team = owner.team) as total
      from ${visible} owner
      left join lateral (select ${COLUMNS} from workload_identities w where w.team = owner.team
                          order by w.name, w.id ${buildLimit(page)}) page on true
     order by page.name, page.id`,
  );
  const [first] = rows;
  if (!first) throw notFound();
  requireTokenManagement(actor, first.scope);
  return toListPage(rows);
};
