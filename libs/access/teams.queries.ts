import { notFound, sql, type Sql } from '#kernel';
import type { Database } from '#event-store';
import type { Actor } from './actor.js';
import { fresh } from './fresh.js';
import { demand, type Permission } from './permissions.js';
import type { OrganizationAccess } from './team.js';

export type TeamDetailsRow = {
  readonly id: string;
  readonly organization: string;
  readonly organizationName: string;
  readonly name: string;
  readonly visibility: string;
  readonly organizationAccess: OrganizationAccess;
  readonly isOwners: boolean;
  readonly members: readonly string[];
};

const TEAM = sql.raw(`t.id, t.organization, o.name as "organizationName", t.name, t.visibility,
  t.organization_access as "organizationAccess", o.owners_team = t.id as "isOwners",
  array(select user_id from team_members m where m.team = t.id order by user_id) as members`);

const teamWhere = async (
  database: Database,
  where: Sql,
  permission: Permission,
  actor: Actor,
): Promise<TeamDetailsRow> => {
  const row = await database.row<TeamDetailsRow>(sql`
    select ${TEAM} from teams t join organizations o on o.id = t.organization where ${where} and ${fresh(actor)}`);
  if (!row) throw notFound();
  demand(actor, permission, row);
  return row;
};

export const teamById = (database: Database, id: string, permission: Permission, actor: Actor) =>
  teamWhere(database, sql`t.id = ${id}`, permission, actor);

export const teamsOf = async (
  database: Database,
  organizationName: string,
  actor: Actor,
): Promise<TeamDetailsRow[]> => {
  const rows = await database.rows<TeamDetailsRow>(sql`
    select ${TEAM} from organizations o join teams t on t.organization = o.id
     where o.name = ${organizationName} and ${fresh(actor)} order by t.name`);
  const [first] = rows;
  // Every organization has at least its owners.
  if (!first) throw notFound();
  demand(actor, 'read-teams', first);
  return rows;
};
