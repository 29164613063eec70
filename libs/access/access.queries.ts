import { notFound, sql, type Sql, type Timestamp } from '#kernel';
import type { Database } from '#event-store';
import type { Actor } from './actor.js';
import type { TokenKind } from './authentication-token.js';
import { fresh } from './fresh.js';
import { demand, type Permission } from './permissions.js';
import type { OrganizationAccess } from './team.js';

export type TokenRow = {
  readonly id: string;
  readonly kind: TokenKind;
  readonly owner: string;
  readonly organization: string | null;
  readonly description: string | null;
  readonly createdByType: string | null;
  readonly createdBy: string | null;
  readonly createdAt: Timestamp;
  readonly expiredAt: Timestamp | null;
  /** Of the team whose members own the organization. */
  readonly ofOwners: boolean;
};

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

export type UserRow = {
  readonly id: string;
  readonly username: string;
  readonly email: string | null;
  readonly siteAdmin: boolean;
};

// Organizations are known by their names outside (clients.md §3).
const TOKEN = sql.raw(`t.id, t.kind, t.owner, t.organization, t.description, t.created_by_type as "createdByType",
  coalesce((select o.name from organizations o where o.id = t.created_by), t.created_by) as "createdBy",
  t.created_at as "createdAt", t.expired_at as "expiredAt",
  exists (select 1 from organizations o where o.owners_team = t.owner) as "ofOwners"`);

const TEAM = sql.raw(`t.id, t.organization, o.name as "organizationName", t.name, t.visibility,
  t.organization_access as "organizationAccess", o.owners_team = t.id as "isOwners",
  array(select user_id from team_members m where m.team = t.id order by user_id) as members`);

export const tokensOf = (database: Database, owner: string, kind: TokenKind, actor: Actor): Promise<TokenRow[]> =>
  database.rows<TokenRow>(sql`
    select ${TOKEN} from authentication_tokens t
     where t.owner = ${owner} and t.kind = ${kind} and ${fresh(actor)} order by t.created_at desc, t.id`);

export const tokenById = (database: Database, id: string, actor: Actor): Promise<TokenRow | undefined> =>
  database.row<TokenRow>(sql`select ${TOKEN} from authentication_tokens t where t.id = ${id} and ${fresh(actor)}`);

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

/** The stable id of an organization known by name, where the caller may do that in it. */
export const organizationIdFor = async (
  database: Database,
  name: string,
  permission: Permission,
  actor: Actor,
): Promise<string> => {
  const row = await database.row<{ id: string }>(
    sql`select id from organizations where name = ${name} and ${fresh(actor)}`,
  );
  if (!row) throw notFound();
  demand(actor, permission, { organization: row.id });
  return row.id;
};

export const userById = (database: Database, id: string, actor: Actor): Promise<UserRow | undefined> =>
  database.row<UserRow>(sql`
    select id, username, email, site_admin as "siteAdmin" from users where id = ${id} and ${fresh(actor)}`);
