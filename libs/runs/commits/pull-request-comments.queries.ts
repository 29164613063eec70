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
  /** Number of the changes that were listed. */
  readonly changes: number;
  /** Digest of the runs with their statuses; empty if there are none any more. */
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

/** Plans in workspaces that have the repository now, and may use the connection: those that a comment shows. */
const FROM = sql`
  from configuration_versions c join runs r on r.configuration_version = c.id
  join workspaces w on w.id = r.workspace and w.vcs_token = c.ingress ->> 'oauthToken' and w.vcs_repository = c.ingress ->> 'identifier'
  join organizations o on o.id = w.organization
  join oauth_clients oc on ${isConnectionUsable(sql`c.ingress ->> 'oauthToken'`)}`;

const RUNS = sql.raw(`md5(string_agg(concat_ws(' ', r.id, r.status), ',' order by r.id))`);

/** Returns the statement that lists the pull requests of runs that have changed. */
export const storeChangedPullRequests = (
  changed: readonly { readonly run: string; readonly at: Timestamp }[],
): Sql => sql`
  insert into commits.changed_pull_requests (organization, token, identifier, number, changes, changed_at)
  select r.organization, c.ingress ->> 'oauthToken', c.ingress ->> 'identifier', ${NUMBER}, 1, max(n.at)
    from jsonb_to_recordset(${sql.json(changed)}::jsonb) n (run text, at timestamptz)
    join runs r on r.id = n.run join configuration_versions c on c.id = r.configuration_version
   where c.ingress #>> '{pullRequest,number}' is not null
   group by 1, 2, 3, 4 order by 1, 2, 3, 4
  on conflict (organization, token, identifier, number) do update
    set changes = changed_pull_requests.changes + 1, changed_at = excluded.changed_at`;

/**
 * Lists the pull requests with plans since `since` whose comment does not show their runs. It reads all plans since then, for what
 * the follower of an earlier version of the server has not listed.
 */
export const listMissedPullRequests = async (database: Database, since: Timestamp): Promise<void> => {
  await database.rows(sql`
    insert into commits.changed_pull_requests (organization, token, identifier, number, changes, changed_at)
    select p.organization, p.token, p.identifier, p.number, 1, p.changed_at
      from (
        select w.organization, oc.token, c.ingress ->> 'identifier' as identifier, ${NUMBER} as number, ${RUNS} as runs,
               max(c.created_at) as changed_at ${FROM}
         where c.ingress is not null and c.ingress #>> '{pullRequest,number}' is not null and c.created_at >= ${since}
           and (o.settings ->> 'pullRequestCommentsEnabled')::boolean
         group by w.organization, oc.token, c.ingress ->> 'identifier', ${NUMBER}) p
      left join commits.comments m
        on (m.organization, m.token, m.identifier, m.number) = (p.organization, p.token, p.identifier, p.number)
     where m.runs is distinct from p.runs
     order by 1, 2, 3, 4
    on conflict (organization, token, identifier, number) do nothing`);
};

/** The times of a round of the job. */
type CommentTimes = {
  /** Plans before it are not shown. */
  readonly since: Timestamp;
  /** Comments that were written later are not updated yet. */
  readonly writtenBefore: Timestamp;
  readonly now: Timestamp;
};

/**
 * Returns listed pull requests, in turns of the organizations and of their connections. Closed ones without a comment, and those that
 * are paused, are left out. `paused`: tokens, and `comment` with token, identifier and number, that are left out too.
 */
export const listCommentedPullRequests = (
  database: Database,
  { since, writtenBefore, now }: CommentTimes,
  paused: readonly string[],
  most: number,
): Promise<readonly CommentedPullRequest[]> =>
  database.rows<CommentedPullRequest & { readonly turn: number; readonly turnOfOrganization: number }>(sql`
    select *, row_number() over (partition by organization order by turn, token) as "turnOfOrganization" from (
      select l.organization, o.name as "organizationName", oc.id as client, l.token, oc.service_provider as "serviceProvider",
             oc.api_url as "apiUrl", l.identifier, l.number, l.changes, coalesce(p.runs, '') as runs, m.comment, m.digest,
             row_number() over (partition by l.token order by l.identifier, l.number) as turn
        from commits.changed_pull_requests l join organizations o on o.id = l.organization
        join oauth_clients oc on oc.token = l.token and oc.organization = l.organization
        cross join lateral (
          select ${RUNS} as runs, bool_or(${IS_OPEN}) as is_open
            from workspaces w join configuration_versions c on c.workspace = w.id join runs r on r.configuration_version = c.id
            left join commits.followed f on f.workspace = w.id
           where w.organization = l.organization and w.vcs_token = l.token and w.vcs_repository = l.identifier
             and (oc.organization_scoped or oc.projects ? w.project)
             and c.ingress ->> 'oauthToken' = l.token and c.ingress ->> 'identifier' = l.identifier
             and c.ingress #>> '{pullRequest,number}' is not null and ${NUMBER} = l.number and c.created_at >= ${since}) p
        left join commits.comments m
          on (m.organization, m.token, m.identifier, m.number) = (l.organization, l.token, l.identifier, l.number)
       where (o.settings ->> 'pullRequestCommentsEnabled')::boolean
         and (l.paused_until is null or l.paused_until <= ${now}) and (m.written_at is null or m.written_at <= ${writtenBefore})
         and (p.runs is null or p.is_open or m.comment is not null)
         and not (array[l.token, concat_ws(' ', 'comment', l.token, l.identifier, l.number)] && ${paused}::text[])) comments
     order by "turnOfOrganization", organization, token limit ${most}`);

/** Returns the statement that removes a pull request from the list, unless it has changed since it was read. */
export const endChange = ({ organization, token, identifier, number, changes }: CommentedPullRequest): Sql => sql`
  delete from commits.changed_pull_requests l
   where (l.organization, l.token, l.identifier, l.number, l.changes) = (${organization}, ${token}, ${identifier}, ${number}, ${changes})`;

/** Removes old pull requests from the list, and those of organizations that do not exist any more. */
export const deleteOldChanges = async (database: Database, before: Timestamp): Promise<void> => {
  await database.rows(sql`
    delete from commits.changed_pull_requests l
     where l.changed_at < ${before} or not exists (select 1 from organizations o where o.id = l.organization)`);
};

/** Stores until when comments of a connection, or on one pull request, are not attempted again, by any process. */
export const pauseComments = async (
  database: Database,
  { organization, token, identifier, number }: CommentedPullRequest,
  subject: 'connection' | 'pull request',
  until: Timestamp,
): Promise<void> => {
  const isOne = sql`and l.identifier = ${identifier} and l.number = ${number}`;
  await database.rows(sql`
    update commits.changed_pull_requests l set paused_until = ${until}
     where l.organization = ${organization} and l.token = ${token} ${subject === 'connection' ? sql.empty : isOne}`);
};

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
