import { sql, type Sql, type Timestamp } from '#platform/kernel';
import type { Database } from '#platform/postgres';
import { isConnectionUsable } from '#runs/runs';
import { EXECUTION_MODE } from '#workspaces/workspaces';
import type { CommitTriggers } from './commit-decision.js';
import { REPORTS_UNTRIGGERED } from './untriggered-plans.queries.js';

/** What was decided last about a pull request. */
export type DecidedPullRequest = {
  readonly sha: string;
  /** The branch that it was to be merged into; null in rows of earlier versions. */
  readonly baseBranch: string | null;
  /** Counts the decisions: a commit that the pull request had before starts another plan if it gets it again. */
  readonly attempt: number;
  readonly isOpen: boolean;
};

/** A workspace with a repository, and what the server has read of the repository for it. */
export type BoundWorkspace = {
  readonly workspace: string;
  readonly workspaceName: string;
  readonly organization: string;
  /** Id of the OAuth client. */
  readonly client: string;
  readonly repository: CommitTriggers & { readonly identifier: string };
  readonly serviceProvider: string;
  readonly apiUrl: string;
  /** Id of the OAuth token. */
  readonly token: string;
  /** Whether a person or a team has locked it. Runs wait for the lock of another run. */
  readonly isLocked: boolean;
  readonly hasRuns: boolean;
  /**
   * The repository and the ref that `head` and `tags` are of; null before the first read, `SOURCE_OF_DELETED` after the
   * workspace was recovered.
   */
  readonly source: string | null;
  /** SHA of the commit that was decided last; null if the branch has not existed yet. */
  readonly head: string | null;
  /** SHAs of all listed tags by their names. */
  readonly tags: Readonly<Record<string, string>>;
  /**
   * The open pull requests and some closed ones by their numbers, as rows of earlier versions the SHAs of the open ones; null before
   * the first read.
   */
  readonly pullRequests: Readonly<Record<string, DecidedPullRequest | string>> | null;
  /** When the reading began whose decisions are stored; null before the first read. */
  readonly readAt: Timestamp | null;
  /** Whether a newer commit of a pull request cancels the plans of older ones. */
  readonly cancelsSuperseded: boolean;
  /** Whether the Git host gets a passing status of pull requests that change no file that concerns the workspace. */
  readonly reportsUntriggered: boolean;
};

/** The position of a workspace in the order of organizations, connections and repositories. */
export type BoundPosition = {
  readonly organization: string;
  readonly token: string;
  readonly identifier: string;
  readonly workspace: string;
};

const toPosition = ({ organization, token, identifier, workspace }: BoundPosition): BoundPosition => ({
  organization,
  token,
  identifier,
  workspace,
});

const SPECULATIVE_ENABLED = sql.raw(`coalesce((w.settings ->> 'speculativeEnabled')::boolean, true)`);

export const BOUND_PAGE_SIZE = 1_000;

/**
 * Returns the workspaces whose connection may be used for them, those of a repository one after another. The connection must
 * belong to the organization of the workspace: settings of older workspaces can name any id. `starts`: where connections begin, after
 * these workspaces, and which ones are left out; the others begin with their first workspace.
 */
export const listBoundWorkspaces = async (
  database: Database,
  after: BoundPosition,
  starts: {
    readonly served: readonly { readonly token: string | null }[];
    readonly positions: readonly BoundPosition[];
  },
): Promise<readonly (BoundWorkspace & BoundPosition)[]> =>
  database.rows<BoundWorkspace & BoundPosition>(sql`
    select w.id as workspace, w.name as "workspaceName", w.organization, oc.id as client, oc.token, w.vcs_repository as identifier,
           oc.service_provider as "serviceProvider", oc.api_url as "apiUrl", coalesce(w.lock #>> '{holder,type}' <> 'runs', false) as "isLocked",
           exists (select 1 from runs r where r.workspace = w.id) as "hasRuns",
           jsonb_build_object(
             'identifier', w.settings #> '{vcsRepo,identifier}', 'branch', w.settings #> '{vcsRepo,branch}',
             'tagsRegex', w.settings #> '{vcsRepo,tagsRegex}', 'fileTriggersEnabled', w.settings -> 'fileTriggersEnabled',
             'triggerPrefixes', w.settings -> 'triggerPrefixes', 'triggerPatterns', w.settings -> 'triggerPatterns',
             'workingDirectory', w.settings -> 'workingDirectory', 'queueAllRuns', w.settings -> 'queueAllRuns',
             'speculativeEnabled', ${SPECULATIVE_ENABLED}) as repository,
           f.source, f.head, coalesce(f.tags, '{}') as tags, f.pull_requests as "pullRequests", f.read_at as "readAt",
           coalesce((o.settings ->> 'speculativePlanManagementEnabled')::boolean, true) as "cancelsSuperseded",
           ${REPORTS_UNTRIGGERED} as "reportsUntriggered"
      from workspaces w
      join oauth_clients oc on ${isConnectionUsable(sql`w.vcs_token`)}
      join projects p on p.id = w.project join organizations o on o.id = w.organization
      left join commits.followed f on f.workspace = w.id
     where w.vcs_token is not null
       and ${EXECUTION_MODE} <> 'local'
       and not exists (
             select 1 from jsonb_to_recordset(${sql.json(starts.positions.map(toPosition))}::jsonb) s (token text, identifier text, workspace text)
              where s.token = oc.token and (w.vcs_repository, w.id) <= (s.identifier, s.workspace))
       and oc.token <> all (${starts.served.map(({ token }) => token)}::text[])
       and (w.organization, oc.token, w.vcs_repository, w.id) > (${after.organization}, ${after.token}, ${after.identifier}, ${after.workspace})
     order by w.organization, oc.token, w.vcs_repository, w.id limit ${BOUND_PAGE_SIZE}`);

type FollowedState = {
  readonly workspace: string;
  readonly source: string;
  readonly head: string | null;
  readonly tags: Readonly<Record<string, string>>;
  readonly pullRequests: BoundWorkspace['pullRequests'];
};

/**
 * Returns the statement that stores what was read of a repository for these workspaces, unless a reading that began later has
 * stored it.
 */
export const storeFollowed = (states: readonly FollowedState[], startedAt: Timestamp): Sql => sql`
  insert into commits.followed (workspace, source, head, tags, pull_requests, read_at)
  select s.workspace, s.source, s.head, s.tags, s."pullRequests", ${startedAt}
    from jsonb_to_recordset(${sql.json(states)}::jsonb)
         s (workspace text, source text, head text, tags jsonb, "pullRequests" jsonb)
  on conflict (workspace) do update
    set source = excluded.source, head = excluded.head, tags = excluded.tags, pull_requests = excluded.pull_requests,
        read_at = excluded.read_at
    where followed.read_at <= excluded.read_at`;

/** Returns the statement that stores pull requests like `storeFollowed`, if the workspace still has this source. */
export const storePullRequests = (
  { workspace, source, pullRequests }: Pick<FollowedState, 'workspace' | 'source' | 'pullRequests'>,
  startedAt: Timestamp,
): Sql => sql`
  update commits.followed set pull_requests = ${pullRequests && sql.json(pullRequests)}, read_at = ${startedAt}
   where workspace = ${workspace} and source = ${source} and read_at <= ${startedAt}`;

/** Replaces the source while a workspace is deleted: the commits that were pushed meanwhile start no run after its recovery. */
export const SOURCE_OF_DELETED = '';

/** Marks the rows of deleted workspaces that can be recovered, and deletes those of workspaces that do not exist any more. */
export const updateUnfollowed = async (database: Database): Promise<void> => {
  await database.rows(sql`
    update commits.followed f set source = ${SOURCE_OF_DELETED}
     where f.source <> ${SOURCE_OF_DELETED} and exists (select 1 from deleted_workspaces d where d.id = f.workspace)`);
  await database.rows(sql`
    delete from commits.followed f
     where not exists (select 1 from workspaces w where w.id = f.workspace)
       and not exists (select 1 from deleted_workspaces d where d.id = f.workspace)`);
};
