import { createHash } from 'node:crypto';
import type { JobRun, ScheduledJob } from '#platform/postgres';
import type { ChangedResources } from '#runs/runs';
import { GitHostError, MISSING_RIGHTS, type GitHost } from '#vcs/git-hosts';
import {
  Turns,
  forEachGroup,
  isLasting,
  isOfConnection,
  openHost,
  toGroups,
  toHost,
  toRepositoryKey,
  type CommitsJobDependencies,
} from './organization-turns.service.js';
import { MOST_LISTS, renderComment } from './pull-request-comment.document.js';
import {
  deleteOldChanges,
  deleteOldComments,
  endChange,
  listCommentedPullRequests,
  listMissedPullRequests,
  listPlansOfPullRequest,
  pauseComments,
  storeComment,
  type CommentedPullRequest,
} from './pull-request-comments.queries.js';
import { storeVcsEvents } from './vcs-events.queries.js';

const DAY_MS = 24 * 60 * 60_000;
const EVERY_MS = 10_000;
const COMMENTED_AT_ONCE = 200;
/** The time of an organization in a round. The next round continues. */
const TIME_OF_ORGANIZATION_MS = 30_000;
/** Comments do not show the plans of older commits. */
const COMMENTED_DAYS = 7;
/**
 * During an upgrade, the follower of the process before can run without listing pull requests. Reading all plans is too much for
 * every round.
 */
const MISSED_EVERY_MS = 5 * 60_000;
/** A comment is not updated more often. */
const UPDATED_EVERY_MS = 60_000;
/** After the Git host has refused a comment. */
const REFUSAL_PAUSE_MS = 60 * 60_000;
/** A pull request can be open for long. Its comment is found by its mark after that. */
const KEPT_DAYS = 90;

type CommentsJobDependencies = CommitsJobDependencies & {
  readonly publicUrl: string;
  readonly changedResources: Pick<ChangedResources, 'list'>;
};

/**
 * Writes one comment on each pull request with plans, and updates it. Only one process runs a job at a time. A process that ends
 * after it has written a comment has not stored its id: the next one finds the comment by its mark.
 */
export const createPullRequestCommentsJob = (dependencies: CommentsJobDependencies): ScheduledJob => {
  const { database, clock, pauses, startDeadline } = dependencies;
  let missedListedAt = -Infinity;
  return {
    name: 'pull_request_comments',
    everyMs: EVERY_MS,
    run: async (round) => {
      const subtract = (ms: number): string => new Date(clock.now().getTime() - ms).toISOString();
      const since = subtract(COMMENTED_DAYS * DAY_MS);
      const writtenBefore = subtract(UPDATED_EVERY_MS);
      const now = clock.now().getTime();
      if (now - missedListedAt >= MISSED_EVERY_MS) {
        await listMissedPullRequests(database, since);
        missedListedAt = now;
      }
      const times = { since, writtenBefore, now: subtract(0) };
      const rows = await listCommentedPullRequests(database, times, pauses.listPaused(), COMMENTED_AT_ONCE);
      const groups = toGroups(rows, ({ organization, ...row }) => [organization, toCommentKey(row)].join(' '));
      const turns = new Turns(startDeadline, TIME_OF_ORGANIZATION_MS);
      await forEachGroup(turns, round, groups, ([pullRequest], { deadline }) =>
        attemptComment(dependencies, round, pullRequest, since, deadline),
      );
      await deleteOldComments(database, subtract(KEPT_DAYS * DAY_MS));
      await deleteOldChanges(database, since);
      pauses.removeOld();
    },
  };
};

const toCommentKey = ({
  number,
  ...repository
}: Pick<CommentedPullRequest, 'token' | 'identifier' | 'number'>): string =>
  `comment ${toRepositoryKey(repository)} ${number}`;

/** Comments on a pull request. After a failure, it is paused, also for the next process. */
const attemptComment = async (
  dependencies: CommentsJobDependencies,
  round: JobRun,
  pullRequest: CommentedPullRequest,
  since: string,
  deadline: AbortSignal,
): Promise<void> => {
  const { database, pauses } = dependencies;
  const { token } = pullRequest;
  const work = { subject: 'commenting on a pull request', key: toCommentKey(pullRequest) };
  if (pauses.covers(token)) return;
  try {
    await pauses.attempt(work, () => commentOn(dependencies, pullRequest, since, deadline));
  } catch (error) {
    if (error instanceof GitHostError && isLasting(error)) {
      await reportRefusal(dependencies, pullRequest, error);
      const until = pauses.recordFailure(work, error, REFUSAL_PAUSE_MS);
      await pauseComments(database, pullRequest, 'pull request', until.toISOString());
    } else {
      const isAll = isOfConnection(error);
      const until = pauses.recordFailure(isAll ? toHost(token) : work, error);
      await pauseComments(database, pullRequest, isAll ? 'connection' : 'pull request', until.toISOString());
    }
  }
  round.done();
};

const renderPullRequest = async (
  { database, changedResources, publicUrl }: CommentsJobDependencies,
  pullRequest: CommentedPullRequest,
  since: string,
): Promise<string | null> => {
  const plans = await listPlansOfPullRequest(database, pullRequest, since);
  const [first] = plans;
  if (!first) return null;
  const workspaces = `${publicUrl}/app/${pullRequest.organizationName}/workspaces`;
  const readings = plans.map(async ({ counts, ...run }, index) => ({
    run,
    counts,
    url: `${workspaces}/${run.workspaceName}/runs/${run.id}`,
    resources: index < MOST_LISTS && run.isPlanned ? await changedResources.list(run.id) : null,
  }));
  return renderComment(toMark(pullRequest), first.sha, await Promise.all(readings));
};

/** Returns a text with which only comments of this organization and connection begin. Hosts do not show it. */
const toMark = ({ organization, client }: CommentedPullRequest): string =>
  `<!-- cadastre ${organization} ${client} -->`;

const commentOn = async (
  dependencies: CommentsJobDependencies,
  pullRequest: CommentedPullRequest,
  since: string,
  deadline: AbortSignal,
): Promise<void> => {
  const { database, clock } = dependencies;
  const text = await renderPullRequest(dependencies, pullRequest, since);
  if (text === null) return void (await database.rows(endChange(pullRequest)));
  const digest = createHash('sha256').update(text).digest('hex');
  const isSame = digest === pullRequest.digest;
  const host = isSame ? null : await openHost(dependencies, pullRequest, deadline);
  if (!isSame && !host) return;
  const comment = host ? await writeComment(host, pullRequest, text) : pullRequest.comment;
  const stored = storeComment(pullRequest, { comment, digest }, clock.now().toISOString());
  await database.transaction([stored, endChange(pullRequest)]);
};

/** Returns the id of the comment. */
const writeComment = async (host: GitHost, pullRequest: CommentedPullRequest, text: string): Promise<string> => {
  const { identifier, number, comment } = pullRequest;
  const id = comment ?? (await host.findComment(identifier, number, toMark(pullRequest)));
  if (id !== null && (await updateComment(host, pullRequest, id, text))) return id;
  return host.createComment(identifier, number, text);
};

/** Returns false if somebody has deleted the comment. */
const updateComment = async (
  host: GitHost,
  { identifier, number }: CommentedPullRequest,
  id: string,
  text: string,
): Promise<boolean> => {
  try {
    await host.updateComment(identifier, number, id, text);
    return true;
  } catch (error) {
    if (error instanceof GitHostError && error.failure === 'not-found') return false;
    throw error;
  }
};

/** Reports once a day that the account may not comment on pull requests of a repository. */
const reportRefusal = async (
  { database, clock }: CommentsJobDependencies,
  { organization, client, identifier }: CommentedPullRequest,
  error: GitHostError,
): Promise<void> => {
  const now = clock.now().toISOString();
  const event = {
    organization,
    client,
    workspace: null,
    level: 'error',
    message: `Pull requests of ${identifier} get no comment: ${error.message}`,
    suggestedAction: MISSING_RIGHTS.includes(error.failure)
      ? 'Give the account of the connection the right to comment on pull requests, or turn these comments off.'
      : null,
    subject: now.slice(0, 10),
  } as const;
  await database.rows(storeVcsEvents([event], now));
};
