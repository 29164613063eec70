import { sql, type Sql, type Timestamp } from '#platform/kernel';
import type { Database } from '#platform/postgres';
import { isConnectionUsable } from '#runs/runs';

/** Whether the organization `o` wants commit statuses at all. */
export const REPORTS_STATUSES = sql.raw(`coalesce((o.settings ->> 'commitStatusesEnabled')::boolean, true)`);

/** Whether all runs of a commit in the organization `o` have one status together. */
export const IS_AGGREGATED = sql.raw(`coalesce((o.settings ->> 'aggregatedCommitStatusEnabled')::boolean, true)`);

/** Whether the organization `o` wants passing statuses of commits that start no plan, because of their files. */
export const REPORTS_UNTRIGGERED = sql`(
  ${REPORTS_STATUSES} and not ${IS_AGGREGATED}
  and coalesce((o.settings ->> 'sendPassingStatusesForUntriggeredSpeculativePlans')::boolean, false))`;

/** A commit of a pull request without a plan, whose passing status the Git host does not have. */
type UntriggeredPlan = {
  readonly workspace: string;
  readonly workspaceName: string;
  readonly organization: string;
  readonly organizationName: string;
  readonly identifier: string;
  readonly sha: string;
  readonly client: string;
  readonly token: string;
  readonly serviceProvider: string;
  readonly apiUrl: string;
};

type DecidingWorkspace = {
  readonly workspace: string;
  readonly repository: { readonly identifier: string };
  readonly reportsUntriggered: boolean;
};

/** Returns the statement that stores commits whose passing status the Git host is to get, if the organization wants it. */
export const storeUntriggeredPlans = (
  { workspace, repository, reportsUntriggered }: DecidingWorkspace,
  shas: readonly string[],
  now: Timestamp,
): Sql => sql`
  insert into commits.untriggered_plans (workspace, identifier, sha, decided_at)
  select ${workspace}, ${repository.identifier}, sha, ${now} from unnest(${reportsUntriggered ? shas : []}::text[]) sha
  on conflict (workspace, identifier, sha) do nothing`;

/**
 * Returns commits without a plan in turns of the organizations and of their connections, except those that the workspace plans meanwhile. `paused`: as
 * `listUnreportedRuns` has it.
 */
export const listUntriggeredPlans = (
  database: Database,
  paused: readonly string[],
  most: number,
): Promise<readonly UntriggeredPlan[]> =>
  database.rows<UntriggeredPlan & { readonly turn: number; readonly turnOfOrganization: number }>(sql`
    select *, row_number() over (partition by organization order by turn, token, workspace, sha) as "turnOfOrganization" from (
      select u.workspace, w.name as "workspaceName", w.organization, o.name as "organizationName", u.identifier, u.sha,
             oc.id as client, oc.token, oc.service_provider as "serviceProvider", oc.api_url as "apiUrl",
             row_number() over (partition by oc.token order by u.decided_at, u.workspace, u.sha) as turn
        from commits.untriggered_plans u join workspaces w on w.id = u.workspace and w.vcs_repository = u.identifier
        join organizations o on o.id = w.organization
        join oauth_clients oc on ${isConnectionUsable(sql`w.vcs_token`)}
       where ${REPORTS_UNTRIGGERED}
         and not exists (
               select 1 from configuration_versions c where c.workspace = w.id and c.ingress ->> 'commitSha' = u.sha)
         and not (array[oc.token, concat_ws(' ', 'status', oc.token, u.identifier, u.sha)] && ${paused}::text[])) plans
     order by "turnOfOrganization", organization limit ${most}`);

/** Deletes a commit whose status the Git host has got, or has refused. */
export const deleteUntriggeredPlan = async (
  database: Database,
  { workspace, identifier, sha }: UntriggeredPlan,
): Promise<void> => {
  await database.rows(sql`
    delete from commits.untriggered_plans u
     where u.workspace = ${workspace} and u.identifier = ${identifier} and u.sha = ${sha}`);
};

export const deleteOldUntriggeredPlans = async (database: Database, before: Timestamp): Promise<void> => {
  await database.rows(sql`delete from commits.untriggered_plans u where u.decided_at < ${before}`);
};
