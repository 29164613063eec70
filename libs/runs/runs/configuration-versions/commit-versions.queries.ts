import { sql, type Sql, type Timestamp } from '#platform/kernel';
import { selectStreamVersions, type StreamVersion } from '#storage/event-store';
import type { Database } from '#platform/postgres';
import { FINAL_STATUSES } from '../runs/run-status.js';

/** Returns a condition: whether there is a configuration version with this id, or was one before its workspace was recovered. */
const hasConfigurationStream = (id: string): Sql =>
  sql`exists (select 1 from event_store.streams where stream = ${id})`;

/** The configuration version of a commit. Its members are null if it was deleted. */
export type UsedCommit = {
  readonly createdAt: Timestamp | null;
  /** Where the commit was when it was decided. */
  readonly branch: string | null;
  readonly tag: string | null;
};

/** Returns the configuration version with this id; null if there is none and was none. */
export const findUsedCommit = async (database: Database, id: string): Promise<UsedCommit | null> => {
  const row = await database.row<UsedCommit & { readonly exists: boolean }>(sql`
    select ${hasConfigurationStream(id)} as exists, c.created_at as "createdAt", c.ingress ->> 'branch' as branch,
           c.ingress ->> 'tag' as tag
      from (values (${id})) wanted (id)
      left join (configuration_versions c join workspaces w on w.id = c.workspace) on c.id = wanted.id`);
  return row?.exists ? { createdAt: row.createdAt, branch: row.branch, tag: row.tag } : null;
};

type WorkspaceForCommit = {
  readonly organization: string;
  readonly preconditions: readonly StreamVersion[];
  /** Whether the configuration version exists, or did before the workspace was recovered. */
  readonly exists: boolean;
};

export const loadWorkspaceForCommit = (
  database: Database,
  workspace: string,
  id: string,
): Promise<WorkspaceForCommit | undefined> =>
  database.row<WorkspaceForCommit>(sql`
    select w.organization, ${selectStreamVersions(sql.raw('array[w.organization, w.id]'))} as preconditions,
           ${hasConfigurationStream(id)} as exists
      from workspaces w where w.id = ${workspace}`);

/** A configuration version whose commit is not fetched yet. The members of its connection are null if it was deleted. */
export type UnfetchedCommit = {
  readonly id: string;
  readonly organization: string;
  readonly identifier: string;
  readonly sha: string;
  readonly token: string | null;
  readonly serviceProvider: string | null;
  readonly apiUrl: string | null;
  /** Address of the Git host for people. */
  readonly httpUrl: string | null;
  /** Whether the workspace includes submodules now. */
  readonly withSubmodules: boolean;
  readonly createdAt: Timestamp;
};

/** Returns a condition: whether the connection `oc` has the token, and the workspace `w` may use it. */
export const isConnectionUsable = (token: Sql): Sql => sql`
  oc.token = ${token} and oc.organization = w.organization and (oc.organization_scoped or oc.projects ? w.project)`;

const WITH_SUBMODULES = sql.raw(`coalesce((w.settings #>> '{vcsRepo,ingressSubmodules}')::boolean, false)`);

export const listUnfetchedConfigurations = (
  database: Database,
  most: number,
  paused: readonly string[],
  withSubmodules: boolean,
): Promise<readonly UnfetchedCommit[]> =>
  database.rows<UnfetchedCommit>(sql`
    select id, organization, identifier, sha, token, "serviceProvider", "apiUrl", "httpUrl", "withSubmodules", "createdAt"
      from (
        select *, row_number() over (partition by organization order by turn, "createdAt", id) as turn_of_organization from (
        select c.id, w.organization, c.ingress ->> 'identifier' as identifier, c.ingress ->> 'commitSha' as sha, oc.token,
               oc.service_provider as "serviceProvider", oc.api_url as "apiUrl", oc.http_url as "httpUrl",
               ${WITH_SUBMODULES} as "withSubmodules", c.created_at as "createdAt",
               row_number() over (partition by w.organization, oc.token order by c.created_at, c.id) as turn
          from configuration_versions c join workspaces w on w.id = c.workspace
          left join oauth_clients oc on ${isConnectionUsable(sql`c.ingress ->> 'oauthToken'`)}
         where c.status = 'pending' and c.ingress is not null
           and ${WITH_SUBMODULES} = ${withSubmodules}
           and not (array[c.id, oc.token,
                          concat_ws(' ', oc.token, c.ingress ->> 'identifier', c.ingress ->> 'commitSha', (${WITH_SUBMODULES})::text),
                          case when ${WITH_SUBMODULES} then concat_ws(' ', 'submodules', oc.token, c.ingress ->> 'identifier') end]
                    && ${paused}::text[])) commits) turns
     order by turn_of_organization, "createdAt", id limit ${most}`);

/** What is not finished of a pull request in a workspace. */
type OpenOfPullRequest = { readonly configurations: readonly string[]; readonly runs: readonly string[] };

/** `keptId`: id of the configuration version that is left out; null for none. */
export const listOpenOfPullRequest = async (
  database: Database,
  workspace: string,
  number: number,
  keptId: string | null,
): Promise<OpenOfPullRequest> => {
  const row = await database.row<OpenOfPullRequest>(sql`
    with versions as (
      select c.id, c.status from configuration_versions c join workspaces w on w.id = c.workspace
       where c.workspace = ${workspace} and (c.ingress #>> '{pullRequest,number}')::bigint = ${number}
         and c.id is distinct from ${keptId}::text)
    select array(select id from versions where status = 'pending' order by id) as configurations,
           array(select r.id from runs r join versions v on v.id = r.configuration_version
                  where r.status <> all (${FINAL_STATUSES}::text[]) order by r.id) as runs`);
  return row ?? { configurations: [], runs: [] };
};
