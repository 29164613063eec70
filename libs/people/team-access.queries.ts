import { notFound, sql, type Sql } from '#kernel';
import { heldStreams, snapshotOf, type Database, type Held, type Snapshot } from '#event-store';
import {
  demand,
  fresh,
  grantsOnProject,
  grantsOnWorkspace,
  may,
  permittedPlaces,
  type Actor,
  type CustomProjectAccess,
  type Grant,
  type Identity,
  type Permission,
  type Place,
  type ProjectLevel,
  type WorkspaceAccess,
  type WorkspaceLevel,
} from '#access';
import type { NamedTeam } from './team-access.js';
import { mayReadTeam, type TeamPlace } from './team-permission.js';
import { teamPlaceOf } from './teams.queries.js';

/** One team's access to one place, as documents show it. */
type AccessRow<Level, Fields> = {
  readonly id: string;
  readonly team: string;
  /** The workspace's id, or the project's. */
  readonly place: string;
  readonly access: Level;
  readonly custom: Fields | null;
};
export type TeamWorkspaceRow = AccessRow<WorkspaceLevel, WorkspaceAccess>;
export type TeamProjectRow = AccessRow<ProjectLevel, CustomProjectAccess>;

/** The two kinds of places: the same questions, asked of other tables. `p` is the place's row. */
type Kind = {
  readonly table: Sql;
  readonly column: Sql;
  readonly places: Sql;
  readonly grants: (actor: Identity) => Sql;
  readonly read: Permission;
  readonly manage: Permission;
};

const KINDS = {
  workspace: {
    table: sql.raw('team_workspaces'),
    column: sql.raw('workspace'),
    places: sql.raw('workspaces'),
    grants: (actor) => grantsOnWorkspace(actor, 'p'),
    read: 'read-workspace-access',
    manage: 'manage-workspace-access',
  },
  project: {
    table: sql.raw('team_projects'),
    column: sql.raw('project'),
    places: sql.raw('projects'),
    grants: (actor) => grantsOnProject(actor, sql.raw('p.id')),
    read: 'read-project-access',
    manage: 'manage-project-access',
  },
} as const satisfies Record<string, Kind>;

export type PlaceKind = keyof typeof KINDS;
type RowOf<K extends PlaceKind> = { workspace: TeamWorkspaceRow; project: TeamProjectRow }[K];

type AtPlace = Place & {
  readonly organization: string;
  readonly grants: readonly Grant[];
  readonly teamPlace: TeamPlace;
};

/** Who manages a place sees every team there, also secret ones. */
const isShown = (actor: Actor, { manage }: Kind, row: AtPlace): boolean =>
  may(actor, manage, row) || mayReadTeam(actor, row.teamPlace);

const columns = ({ column }: Kind): Sql => sql`a.id, a.team, a.${column} as place, a.access, a.custom`;

export const teamAccessById = (kind: PlaceKind, id: string): Sql =>
  sql`select ${columns(KINDS[kind])} from ${KINDS[kind].table} a where a.id = ${id}`;

export type TeamAccessForCommand<K extends PlaceKind> = RowOf<K> &
  AtPlace & { readonly teamName: string; readonly snapshot: Snapshot };

/** One team's access, where the caller may read it, or manage it. */
export const teamAccessFor = async <K extends PlaceKind>(
  database: Database,
  actor: Actor,
  kind: K,
  to: 'read' | 'manage',
  id: string,
): Promise<TeamAccessForCommand<K>> => {
  const { table, column, places, grants, [to]: permission } = KINDS[kind];
  const row = (await database.row(sql`
    select ${columns(KINDS[kind])}, a.organization, ${grants(actor)} as grants, t.name as "teamName",
           ${teamPlaceOf(actor, sql.raw('a.team'))} as "teamPlace",
           ${snapshotOf('s')} as snapshot
      from ${table} a join ${places} p on p.id = a.${column} join teams t on t.id = a.team
      join event_store.streams s on s.stream = a.id
     where a.id = ${id} and ${fresh(actor)}`)) as TeamAccessForCommand<K> | undefined;
  if (!row) throw notFound();
  demand(actor, permission, row);
  if (!isShown(actor, KINDS[kind], row)) throw notFound();
  return row;
};

/**
 * The access of all teams to a place that the caller may know of, by the teams' names. They are few, one a team at the
 * most, and who sees secret ones is a question for the permission table: so all are read, and the page is cut from them.
 */
export const teamAccessesOf = async <K extends PlaceKind>(
  database: Database,
  actor: Actor,
  kind: K,
  place: string,
): Promise<RowOf<K>[]> => {
  const { table, column, places, grants, read } = KINDS[kind];
  const permitting = sql`
    select p.id, p.organization, ${grants(actor)} as grants from ${places} p where p.id = ${place} and ${fresh(actor)}`;
  const rows = (await database.slowRows(
    actor,
    sql`
    select p.organization, p.grants, ${columns(KINDS[kind])},
           ${teamPlaceOf(actor, sql.raw('a.team'))} as "teamPlace"
      from ${permittedPlaces(actor, read, permitting)} p
      left join (${table} a join teams t on t.id = a.team) on a.${column} = p.id order by t.name`,
  )) as unknown as (RowOf<K> & AtPlace)[];
  const [first] = rows;
  if (!first) throw notFound();
  demand(actor, read, first);
  return rows.filter((row) => row.id !== null && isShown(actor, KINDS[kind], row));
};

/** Where new access would be given; `team` null where the organization has none that the caller may know of. */
export type PlaceForTeam = Place & {
  readonly organization: string;
  readonly team: (NamedTeam & TeamPlace) | null;
  /** What must be there still when the access is: the organization, the place and the team. */
  readonly held: readonly Held[];
};

export const placeForTeam = async (
  database: Database,
  actor: Actor,
  kind: PlaceKind,
  place: string,
  team: string,
): Promise<PlaceForTeam> => {
  const { places, grants, manage } = KINDS[kind];
  const row = await database.row<PlaceForTeam>(sql`
    select p.organization, ${grants(actor)} as grants,
           jsonb_build_object('id', named.id, 'name', named.name) || ${teamPlaceOf(actor, sql.raw('named.id'))} as team,
           ${heldStreams(sql.raw('array[p.organization, p.id, named.id]'))} as held
      from ${places} p left join teams named on named.id = ${team} and named.organization = p.organization
     where p.id = ${place} and ${fresh(actor)}`);
  if (!row) throw notFound();
  demand(actor, manage, row);
  return row.team && mayReadTeam(actor, row.team) ? row : { ...row, team: null };
};
