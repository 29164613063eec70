import { sql, type Sql, type Timestamp } from '#platform/kernel';
import type { Database } from '#platform/postgres';
import { isConnectionUsable } from '#runs/runs';
import { MOST_WORKSPACES } from './pull-request-comment.document.js';

/** A pull request whose comment may not show the present runs. */
export type CommentedPullRequest = {
  readonly organization: string;
  readonly organizationName: string;
  readonly client: string;
  readonly token: string;
  readonly serviceProvider: string;
  readonly apiUrl: string;
  readonly identifier: string;
  readonly number: number;
  /** Digest of the runs with their statuses. */
  readonly runs: string;
  /** Id of the comment at the Git host; null if there is none, or it is not known. */
  readonly comment: string | null;
  /** Digest of the text of the comment; null if there is none. */
  readonly digest: string | null;
};

const NUMBER = sql.raw(`(c.ingress #>> '{pullRequest,number}')::bigint`);

/** Whether the pull request was open when the server read the repository for the workspace. Earlier versions stored only a SHA. */
const IS_OPEN = sql.raw(`
  coalesce((f.pull_requests #>> array[c.ingress #>> '{pullRequest,number}', 'isOpen'])::boolean,
           jsonb_typeof(f.pull_requests -> (c.ingress #>> '{pullRequest,number}')) = 'string', false)`);

const FROM = sql`
  from configuration_versions c join runs r on r.configuration_version = c.id join workspaces w on w.id = r.workspace
  join organizations o on o.id = w.organization
  join oauth_clients oc on ${isConnectionUsable(sql`c.ingress ->> 'oauthToken'`)}`;

/**
 * Returns pull requests with plans since `since` whose runs have changed, in turns of the organizations and of their connections.
 * Closed ones without a comment, and comments that were written after `writtenBefore`, are left out. `paused`: tokens, and `comment` with token, identifier and number, that are left out.
 */
export const listCommentedPullRequests = (
  database: Database,
  since: Timestamp,
  writtenBefore: Timestamp,
  paused: readonly string[],
  most: number,
): Promise<readonly CommentedPullRequest[]> =>
  database.rows<CommentedPullRequest & { readonly turn: number; readonly turnOfOrganization: number }>(sql`
    select *, row_number() over (partition by organization order by turn, token) as "turnOfOrganization" from (
      select p.organization, p."organizationName", p.client, p.token, p."serviceProvider", p."apiUrl", p.identifier, p.number,
             p.runs, m.comment, m.digest, row_number() over (partition by p.token order by p.identifier, p.number) as turn
        from (
          select w.organization, o.name as "organizationName", oc.id as client, oc.token, oc.service_provider as "serviceProvider",
                 oc.api_url as "apiUrl", c.ingress ->> 'identifier' as identifier, ${NUMBER} as number,
                 md5(string_agg(concat_ws(' ', r.id, r.status), ',' order by r.id)) as runs, bool_or(${IS_OPEN}) as is_open ${FROM}
            left join commits.followed f on f.workspace = w.id
           where c.ingress #>> '{pullRequest,number}' is not null and c.created_at >= ${since}
             and (o.settings ->> 'pullRequestCommentsEnabled')::boolean
           group by w.organization, o.name, oc.id, oc.token, oc.service_provider, oc.api_url, c.ingress ->> 'identifier',
                    ${NUMBER}) p
        left join commits.comments m
          on (m.organization, m.token, m.identifier, m.number) = (p.organization, p.token, p.identifier, p.number)
       where m.runs is distinct from p.runs and (m.written_at is null or m.written_at <= ${writtenBefore})
         and (p.is_open or m.comment is not null)
         and not (array[p.token, concat_ws(' ', 'comment', p.token, p.identifier, p.number)] && ${paused}::text[])) comments
     order by "turnOfOrganization", organization, token limit ${most}`);

type PlanOfPullRequest = {
  readonly id: string;
  readonly status: string;
  readonly workspaceName: string;
  readonly isPlanned: boolean;
  readonly isConfirmed: boolean;
  readonly counts: { readonly additions: number; readonly changes: number; readonly destructions: number } | null;
  readonly sha: string;
};

/** Returns the newest run of each workspace for the newest planned commit of a pull request, by the names of the workspaces. */
export const listPlansOfPullRequest = (
  database: Database,
  { organization, token, identifier, number }: CommentedPullRequest,
  since: Timestamp,
): Promise<readonly PlanOfPullRequest[]> =>
  database.rows<PlanOfPullRequest>(sql`
    with plans as (
      select r.id, r.status, w.name as "workspaceName", r.reached ? 'planned' as "isPlanned",
             r.reached ? 'apply_queued' as "isConfirmed", r.planned as counts, c.ingress ->> 'commitSha' as sha,
             c.created_at, r.created_at as run_created_at ${FROM}
       where c.ingress #>> '{pullRequest,number}' is not null and c.created_at >= ${since} and w.organization = ${organization}
         and oc.token = ${token} and c.ingress ->> 'identifier' = ${identifier} and ${NUMBER} = ${number}),
    newest as (select p.sha from plans p order by p.created_at desc, p.sha limit 1)
    select distinct on ("workspaceName") id, status, "workspaceName", "isPlanned", "isConfirmed", counts, sha
      from plans join newest using (sha)
     order by "workspaceName", run_created_at desc, id desc limit ${MOST_WORKSPACES + 1}`);

/** Returns the statement that stores what the comment on a pull request shows. */
export const storeComment = (
  { organization, token, identifier, number, runs }: CommentedPullRequest,
  { comment, digest }: Pick<CommentedPullRequest, 'comment' | 'digest'>,
  now: Timestamp,
): Sql => sql`
  insert into commits.comments (organization, token, identifier, number, comment, digest, runs, written_at)
  values (${organization}, ${token}, ${identifier}, ${number}, ${comment}, ${digest}, ${runs}, ${now})
  on conflict (organization, token, identifier, number) do update
    set comment = excluded.comment, digest = excluded.digest, runs = excluded.runs, written_at = excluded.written_at`;

export const deleteOldComments = async (database: Database, before: Timestamp): Promise<void> => {
  await database.rows(sql`delete from commits.comments m where m.written_at < ${before}`);
};
