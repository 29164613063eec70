import { notFound, sql, type Sql, type Timestamp } from '#platform/kernel';
import { buildSnapshotJson, selectStreamVersions, type StreamSnapshot, type StreamVersion } from '#storage/event-store';
import type { Database } from '#platform/postgres';
import { buildLimit, toListPage, type ListPage, type ListRow, type PageRequest } from '#api/json-api';
import { requireCurrentAccess, selectPermittedScopes, type Actor } from '#api/access';
import {
  requireTeamChange,
  selectTeamScope,
  selectTokensOfWorkload,
  type OwnedToken,
  type TeamScope,
} from '#identity/people';
import type { WorkloadIdentitySettings } from './workload-identity.js';

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
