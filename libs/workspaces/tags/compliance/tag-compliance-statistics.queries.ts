import { sql } from '#platform/kernel';
import type { Database } from '#platform/postgres';
import {
  isPermittedByRole,
  requirePermittedRow,
  selectGrantedWorkspaces,
  selectPermittedOrganization,
  type Actor,
} from '#api/access';
import { selectTagGaps } from '#organizations/tag-bindings';

/** The number of projects in an answer: those with the most gaps. */
export const LISTED_PROJECTS = 50;

type ProjectCompliance = {
  readonly id: string;
  readonly name: string;
  readonly workspaces: number;
  /** The number of workspaces without a value for a reserved key. */
  readonly gaps: number;
};

type ComplianceRow = {
  readonly owner: string;
  readonly keys: number;
  readonly workspaces: number;
  readonly gaps: number;
  readonly projects: number;
  readonly listed: readonly ProjectCompliance[];
};

/** Counts the workspaces that the caller may read, and those with gaps, by project, in one statement. */
export const countTagCompliance = async (
  database: Database,
  actor: Actor,
  organization: string,
): Promise<ComplianceRow> => {
  const isInScope = sql`(owner.whole or w.id in (${selectGrantedWorkspaces(actor)}))`;
  const keys = sql`owner
    cross join lateral (select owner.id as organization, key from reserved_tag_keys where organization = owner.id) rk`;
  const [row] = await database.slowRows<ComplianceRow>(
    actor,
    sql`
    with owner as materialized (
      select id, ${isPermittedByRole(actor, 'read-workspace')} as whole
        from ${selectPermittedOrganization(actor, 'read-reserved-tag-keys', organization)}),
    gaps as materialized (${selectTagGaps(keys, isInScope)}),
    counted as materialized (
      select w.project, count(*) as workspaces, count(gaps.id) as gaps
        from owner join workspaces w on w.organization = owner.id left join gaps on gaps.id = w.id
       where ${isInScope} group by w.project)
    select owner.id as owner,
           (select count(*) from reserved_tag_keys k where k.organization = owner.id) as keys,
           (select coalesce(sum(workspaces), 0)::bigint from counted) as workspaces,
           (select coalesce(sum(gaps), 0)::bigint from counted) as gaps,
           (select count(*) from counted) as projects,
           (select coalesce(jsonb_agg(to_jsonb(first) order by first.gaps desc, first.name), '[]')
              from (select p.id, p.name, c.workspaces, c.gaps from counted c join projects p on p.id = c.project
                     order by c.gaps desc, p.name limit ${LISTED_PROJECTS}) first) as listed
      from owner`,
  );
  return requirePermittedRow(actor, 'read-reserved-tag-keys', row && { ...row, organization: row.owner });
};
