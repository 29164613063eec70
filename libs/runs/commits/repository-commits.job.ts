import type { Clock, Timestamp } from '#platform/kernel';
import type { JobRun, ScheduledJob } from '#platform/postgres';
import type { GitHost, GitHostError } from '#vcs/git-hosts';
import {
  Turns,
  forEachGroup,
  isOfConnection,
  isOutOfTime,
  openHost,
  toGroups,
  toHost,
  toRepositoryKey,
  type CommitsJobDependencies,
  type ConnectionTurn,
  type Group,
  type RoundStarts,
} from './organization-turns.service.js';
import {
  BOUND_PAGE_SIZE,
  listBoundWorkspaces,
  updateUnfollowed,
  type BoundPosition,
  type BoundWorkspace,
} from './followed-repositories.queries.js';
import type { PausableWork } from './pauses.service.js';
import { decideProposals, decidePushes } from './pushed-commits.service.js';
import { RepositoryReader } from './repository-reader.service.js';
import { deleteOldVcsEvents, storeVcsEvents } from './vcs-events.queries.js';
import type { UnusedWebhook } from './webhooks.queries.js';

const EVERY_MS = 60_000;
/** The time of an organization in a round, in which all requests to its Git host end. The next round continues. */
const TIME_OF_ORGANIZATION_MS = 30_000;
/** As in HCP Terraform. */
const VCS_EVENTS_DAYS = 10;

/**
 * Reads the branches and tags of all repositories that workspaces follow, and decides new commits. Each step can be repeated: the id
 * of a configuration version derives from its workspace and commit.
 */
export const createRepositoryCommitsJob = (dependencies: CommitsJobDependencies): ScheduledJob => {
  const { pauses } = dependencies;
  let starts: RoundStarts = { served: [], positions: [] };
  return {
    name: 'repository_commits',
    everyMs: EVERY_MS,
    run: async (round) => {
      starts = await readRepositories(dependencies, round, starts);
      await updateUnfollowed(dependencies.database);
      await dependencies.webhooks.removeUnused((webhook) => openHostOfWebhook(dependencies, webhook));
      await deleteOldVcsEvents(dependencies.database, toRetentionStart(dependencies.clock), dependencies.clock.now());
      pauses.removeOld();
    },
  };
};

const openHostOfWebhook = async (
  dependencies: CommitsJobDependencies,
  { token, serviceProvider, apiUrl }: UnusedWebhook,
): Promise<GitHost | null> =>
  serviceProvider === null || apiUrl === null ? null : openHost(dependencies, { token, serviceProvider, apiUrl });

const toRetentionStart = (clock: Clock): Timestamp =>
  new Date(clock.now().getTime() - VCS_EVENTS_DAYS * 24 * 60 * 60_000).toISOString();

/** Returns where the next round begins. */
const readRepositories = async (
  dependencies: CommitsJobDependencies,
  round: JobRun,
  starts: RoundStarts,
): Promise<RoundStarts> => {
  const { database, startDeadline } = dependencies;
  const turns = new Turns(startDeadline, TIME_OF_ORGANIZATION_MS);
  let after: BoundPosition | undefined = { organization: '', token: '', identifier: '', workspace: '' };
  while (after && !round.signal.aborted) {
    const rows: readonly (BoundWorkspace & BoundPosition)[] = await listBoundWorkspaces(database, after, starts);
    await forEachGroup(turns, round, toGroups(rows, toRepositoryKey), (group, turn) =>
      readRepository(dependencies, round, group, turn),
    );
    after = rows.length < BOUND_PAGE_SIZE ? undefined : rows.at(-1);
  }
  return turns.listStarts(starts);
};

/** Reads a repository for its workspaces, until its turn ends. */
export const readRepository = async (
  dependencies: CommitsJobDependencies,
  round: JobRun,
  group: Group<BoundWorkspace & BoundPosition>,
  turn: ConnectionTurn,
): Promise<void> => {
  const { pauses } = dependencies;
  const [first] = group;
  if (pauses.covers(first.token)) return;
  const repository = { subject: 'reading a repository', key: toRepositoryKey(first) };
  try {
    await pauses.attempt(repository, async () => {
      const host = await openHost(dependencies, first, turn.deadline);
      if (host) await readForWorkspaces(dependencies, round, group, turn, host);
    });
  } catch (error) {
    if (isOutOfTime(error)) turn.isCut = true;
    else pauses.recordFailure(isOfConnection(error) ? toHost(first.token) : repository, error);
  }
};

const readForWorkspaces = async (
  dependencies: CommitsJobDependencies,
  round: JobRun,
  group: Group<BoundWorkspace & BoundPosition>,
  turn: ConnectionTurn,
  host: GitHost,
): Promise<void> => {
  const [first] = group;
  const reader = new RepositoryReader(host, first.identifier, dependencies.clock.now());
  for (const bound of group) {
    if (round.signal.aborted) return;
    await decideForWorkspace(dependencies, round, bound, reader, turn);
    turn.last = bound;
  }
  dependencies.pauses.recordSuccess(first.token);
  if (reader.refusal) await reportRefusal(dependencies, first, reader.refusal);
  // Polls work without webhooks, so webhooks get the time that is left.
  await dependencies.webhooks.ensure(host, first);
};

/** Reports once a day that the account may not read the pull requests of a repository. */
const reportRefusal = async (
  { database, clock }: CommitsJobDependencies,
  { organization, client, identifier }: BoundWorkspace & BoundPosition,
  error: GitHostError,
): Promise<void> => {
  const now = clock.now().toISOString();
  const event = {
    organization,
    client,
    workspace: null,
    level: 'error',
    message: `The pull requests of ${identifier} cannot be read: ${error.message}`,
    suggestedAction: 'Give the account of the connection the right to read pull requests of the repository.',
    subject: now.slice(0, 10),
  } as const;
  await database.rows(storeVcsEvents([event], now));
};

/**
 * Decides the commits of a workspace. A failure pauses only the workspace, because it may concern one commit, and pull requests
 * that fail do not delay pushes. Failures that concern the connection are thrown, and so is the end of its turn: the next one
 * begins with this workspace, unless this one has begun with it.
 */
const decideForWorkspace = async (
  dependencies: CommitsJobDependencies,
  round: JobRun,
  bound: BoundWorkspace & BoundPosition,
  reader: RepositoryReader,
  turn: ConnectionTurn,
): Promise<void> => {
  const { pauses } = dependencies;
  const attempt = async (work: PausableWork, decide: typeof decidePushes): Promise<void> => {
    try {
      await pauses.attempt(work, async () => round.done(await decide(dependencies, bound, reader)));
    } catch (error) {
      const hadWholeTurn = turn.isWhole && turn.last === null;
      const isThrown = isOfConnection(error) || (isOutOfTime(error) && !hadWholeTurn);
      if (!isThrown) pauses.recordFailure(work, error);
      if (isOutOfTime(error) && hadWholeTurn) turn.last = bound;
      if (isThrown || isOutOfTime(error)) throw error;
    }
  };
  const { workspace } = bound;
  await attempt({ subject: 'deciding the commits of a workspace', key: workspace }, decidePushes);
  await attempt(
    { subject: 'deciding the pull requests of a workspace', key: `${workspace} pull requests` },
    decideProposals,
  );
};
