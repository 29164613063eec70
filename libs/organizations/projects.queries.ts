import { notFound, sql, type Sql, type Timestamp } from '#kernel';
import type { Database, Snapshot } from '#event-store';
import {
  demand,
  fresh,
  grantsOnProject,
  isGrantedProject,
  organizationsWhere,
  type Actor,
  type Grant,
  type Identity,
  type Permission,
} from '#access';
import { limitOf, type Page } from '#json-api';
import type { ProjectSettings } from './project.js';

export type ProjectRow = {
  readonly id: string;
  readonly organization: string;
  readonly organizationName: string;
  readonly isDefault: boolean;
  readonly name: string;
  readonly description: string | null;
  readonly settings: ProjectSettings;
  readonly createdAt: Timestamp;
  readonly workspaceCount: number;
  /** What the caller's teams have been given on it. */
  readonly grants: readonly Grant[];
};

const COLUMNS = sql.raw(`p.id, p.organization, o.name as "organizationName", o.default_project = p.id as "isDefault",
  p.name, p.description, p.settings, p.created_at as "createdAt",
  (select coalesce(sum(c.workspaces), 0)::bigint from workspace_counts c
    where c.organization = p.organization and c.project = p.id) as "workspaceCount"`);
const FROM = sql.raw('from projects p join organizations o on o.id = p.organization');

/** With what the caller may be asked about: their grants. */
const columns = (actor: Identity): Sql => sql`${COLUMNS}, ${grantsOnProject(actor, sql.raw('p.id'))} as grants`;

export const projectById = (id: string, actor: Identity): Sql =>
  sql`select ${columns(actor)} ${FROM} where p.id = ${id}`;

export const projectsById = (database: Database, ids: readonly string[], actor: Identity): Promise<ProjectRow[]> =>
  database.rows<ProjectRow>(sql`select ${columns(actor)} ${FROM} where p.id = any (${ids}::text[]) order by p.id`);

type ProjectForCommand = ProjectRow & { readonly snapshot: Snapshot };

export const projectFor = async (
  database: Database,
  actor: Actor,
  permission: Permission,
  id: string,
): Promise<ProjectForCommand> => {
  const row = await database.row<ProjectForCommand>(sql`
    select ${columns(actor)}, jsonb_build_object('version', s.version, 'decider', s.decider, 'state', s.state) as snapshot
      ${FROM} join event_store.streams s on s.stream = p.id where p.id = ${id} and ${fresh(actor)}`);
  if (!row) throw notFound();
  demand(actor, permission, row);
  return row;
};

export type ProjectFilter = { readonly names: readonly string[]; readonly search: string | undefined };

/** One page and the count of all, in one statement. */
export const listProjects = async (
  database: Database,
  actor: Actor,
  organizationName: string,
  page: Page,
  filter: ProjectFilter,
): Promise<{ rows: ProjectRow[]; total: number }> => {
  const where = sql.and([
    sql`p.organization = owner.id`,
    sql`(owner.whole or ${isGrantedProject(actor, sql.raw('p.id'))})`,
    ...(filter.names.length > 0 ? [sql`p.name = any (${filter.names}::text[])`] : []),
    ...(filter.search ? [sql`position(lower(${filter.search}) in lower(p.name)) > 0`] : []),
  ]);
  const found = await database.rows<ProjectRow & { owner: string; total: number }>(sql`
    select owner.id as owner, (select count(*) from projects p where ${where}) as total, page.*
      from (select id, ${organizationsWhere(actor, 'read-project')} as whole
              from organizations where name = ${organizationName} and ${fresh(actor)}) owner
      left join lateral (select ${columns(actor)} ${FROM} where ${where} order by p.name ${limitOf(page)}) page on true
     order by page.name`);
  const [first] = found;
  if (!first) throw notFound();
  demand(actor, 'read-organization', { organization: first.owner });
  return { rows: found.filter((row) => row.id !== null), total: first.total };
};
