import { notFound, sql, type Sql } from '#platform/kernel';
import type { Database } from '#platform/postgres';
import {
  isPermittedBy,
  isPermittedByRole,
  requirePermission,
  selectGrantedWorkspaces,
  selectPermittedOrganization,
  selectWorkspaceGrants,
  type Actor,
} from '#api/access';

/** The number of types in an answer: those with the most resources. */
export const LISTED_TYPES = 50;

type ResourceTypeRow = {
  /** As terraform writes it, such as `provider["registry.terraform.io/hashicorp/aws"]`. */
  readonly provider: string;
  readonly type: string;
  readonly resources: number;
  readonly workspaces: number;
};

type ResourceTotals = {
  /** The numbers of workspaces with a state that the caller may read, of their resources, and of the types of these. */
  readonly stateCount: number;
  readonly resourceCount: number;
  readonly typeCount: number;
};

type ResourceStatisticsRow = ResourceTotals & {
  readonly owner: string;
  readonly listed: readonly ResourceTypeRow[];
};

/** Selects the current state versions of `owner` that the caller may read. Owners need no look at grants. */
const selectReadableVersions = (actor: Actor): Sql => {
  const mayRead = isPermittedBy(actor, 'read-state', {
    organization: sql.raw('w.organization'),
    grants: selectWorkspaceGrants(actor, 'w'),
  });
  return sql`
    select v.providers from owner
      join workspaces w on w.organization = owner.id
      join state_versions v on v.id = w.current_state_version
     where owner.whole or (w.id in (${selectGrantedWorkspaces(actor)}) and ${mayRead})`;
};

/** Counts the resources of the current states that the caller may read, by provider and type, in one statement. */
export const countResources = async (
  database: Database,
  actor: Actor,
  organization: string,
): Promise<ResourceStatisticsRow> => {
  const [row] = await database.slowRows<ResourceStatisticsRow>(
    actor,
    sql`
    with owner as materialized (
      select id, ${isPermittedByRole(actor, 'read-state')} as whole
        from ${selectPermittedOrganization(actor, 'read-organization', organization)}),
    versions as materialized (${selectReadableVersions(actor)}),
    types as materialized (
      select p.key as provider, t.key as type, sum(t.value::bigint)::float8 as resources, count(*) as workspaces
        from versions v cross join lateral jsonb_each(v.providers) p cross join lateral jsonb_each_text(p.value) t
       group by p.key, t.key)
    select owner.id as owner, (select count(*) from versions) as "stateCount",
           (select coalesce(sum(resources), 0)::float8 from types) as "resourceCount",
           (select count(*) from types) as "typeCount",
           (select coalesce(jsonb_agg(to_jsonb(first) order by first.resources desc, first.provider, first.type), '[]')
              from (select * from types order by resources desc, provider, type limit ${LISTED_TYPES}) first) as listed
      from owner`,
  );
  if (!row) throw notFound();
  requirePermission(actor, 'read-organization', { organization: row.owner });
  return row;
};
