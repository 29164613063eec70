import { notFound, sql, type Sql, type Timestamp } from '#kernel';
import type { Database, Snapshot } from '#event-store';
import { demand, fresh, type Actor, type Identity, type Permission } from '#access';
import { limitOf, type Page } from '#json-api';
import type { FeatureSet, OrganizationSettings } from './organization.js';

export type OrganizationRow = {
  readonly id: string;
  readonly name: string;
  readonly email: string;
  readonly featureSet: FeatureSet;
  readonly defaultProject: string;
  readonly ownersTeam: string;
  readonly settings: OrganizationSettings;
  readonly createdAt: Timestamp;
};

const COLUMNS = sql.raw(`o.id, o.name, o.email, o.feature_set as "featureSet", o.default_project as "defaultProject",
  o.owners_team as "ownersTeam", o.settings, o.created_at as "createdAt"`);

export const organizationById = (id: string): Sql => sql`select ${COLUMNS} from organizations o where o.id = ${id}`;

/** The organization of that name, where the caller may do that in it; else the refusal of the permission table. */
export const organizationFor = async (
  database: Database,
  actor: Actor,
  permission: Permission,
  name: string,
): Promise<OrganizationRow> => {
  const row = await database.row<OrganizationRow>(
    sql`select ${COLUMNS} from organizations o where o.name = ${name} and ${fresh(actor)}`,
  );
  if (!row) throw notFound();
  demand(actor, permission, { organization: row.id });
  return row;
};

export type OrganizationForCommand = OrganizationRow & { readonly snapshot: Snapshot };

/** As above, with the state that a decision needs. */
export const organizationForCommand = async (
  database: Database,
  actor: Actor,
  permission: Permission,
  name: string,
): Promise<OrganizationForCommand> => {
  const row = await database.row<OrganizationForCommand>(sql`
    select ${COLUMNS}, jsonb_build_object('version', s.version, 'decider', s.decider, 'state', s.state) as snapshot
      from organizations o join event_store.streams s on s.stream = o.id
     where o.name = ${name} and ${fresh(actor)}`);
  if (!row) throw notFound();
  demand(actor, permission, { organization: row.id });
  return row;
};

/** Which organizations a caller sees in lists. */
const visible = (actor: Identity): Sql =>
  actor.siteAdmin ? sql`true` : sql`o.id = any (${[...actor.standings.keys()]}::text[])`;

export const listOrganizations = async (
  database: Database,
  actor: Actor,
  page: Page,
  search: string | undefined,
): Promise<{ rows: OrganizationRow[]; total: number }> => {
  const matching = search
    ? sql`(position(lower(${search}) in lower(o.name)) > 0 or position(lower(${search}) in lower(o.email)) > 0)`
    : sql`true`;
  const found = await database.rows<OrganizationRow & { total: number }>(sql`
    with matched as materialized (
      select ${COLUMNS} from organizations o where ${visible(actor)} and ${matching} and ${fresh(actor)})
    select total.n as total, page.* from (select count(*) as n from matched) total
      left join lateral (select * from matched order by name ${limitOf(page)}) page on true
     order by page.name`);
  return { rows: found.filter((row) => row.id !== null), total: found[0]?.total ?? 0 };
};
