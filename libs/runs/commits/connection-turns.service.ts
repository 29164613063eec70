import type { Clock, Logger } from '#platform/kernel';
import type { Database, JobRun } from '#platform/postgres';
import type { CommitVersions } from '#runs/runs';
import type { ConnectionTokens } from '#vcs/connections';
import { GitHostError, isConnectedProvider, type GitHost, type GitHosts, type ServiceProvider } from '#vcs/git-hosts';
import type { BoundPosition, BoundWorkspace } from './followed-repositories.queries.js';
import type { Pauses, PausableWork } from './pauses.service.js';
import type { RepositoryWebhooks } from './repository-webhooks.service.js';

/** Connections that a job works on at once, so that a slow Git host does not delay the others. */
const CONNECTIONS_AT_ONCE = 4;

export type CommitsJobDependencies = {
  readonly database: Database;
  readonly tokens: Pick<ConnectionTokens, 'open' | 'recordAnswer'>;
  readonly hosts: Pick<GitHosts, 'open'>;
  readonly versions: Pick<CommitVersions, keyof CommitVersions>;
  readonly webhooks: Pick<RepositoryWebhooks, keyof RepositoryWebhooks>;
  readonly clock: Clock;
  readonly logger: Logger;
  /** What one job has paused, the others do not attempt. */
  readonly pauses: Pauses;
  /** Returns a signal that aborts after the time. */
  readonly startDeadline: (ms: number) => AbortSignal;
};

/** Failures that concern every request with the token. All others concern one repository or commit. */
const CONNECTION_FAILURES: readonly GitHostError['failure'][] = ['unauthorized', 'rate-limited'];

export const isOfConnection = (error: unknown): boolean =>
  error instanceof GitHostError && CONNECTION_FAILURES.includes(error.failure);

/** Whether the turn of a connection has ended a request to its Git host. */
export const isOutOfTime = (error: unknown): boolean =>
  error instanceof GitHostError && error.failure === 'out-of-time';

/** The rows of one repository or commit. */
export type Group<T> = readonly [T, ...T[]];

export const toGroups = <T>(rows: readonly T[], toKey: (row: T) => string): readonly Group<T>[] => [
  ...(Map.groupBy(rows, toKey) as Map<string, [T, ...T[]]>).values(),
];

export const toRepositoryKey = ({ token, identifier }: Pick<BoundPosition, 'token' | 'identifier'>): string =>
  `${token} ${identifier}`;
export const toHost = (token: string): PausableWork => ({ subject: 'reading a Git host', key: token });

type HostOfToken = Pick<BoundWorkspace, 'token' | 'serviceProvider' | 'apiUrl'>;

/** `deadline`: ends all requests to the host; without it, each request has its own limit. */
export const openHost = async (
  { tokens, hosts }: Pick<CommitsJobDependencies, 'tokens' | 'hosts'>,
  { token, serviceProvider, apiUrl }: HostOfToken,
  deadline?: AbortSignal,
): Promise<GitHost | null> => {
  const text = await tokens.open(token);
  const provider = serviceProvider as ServiceProvider;
  if (text === undefined || !isConnectedProvider(provider)) return null;
  const onAnswer = (isAccepted: boolean): Promise<void> => tokens.recordAnswer(token, text, isAccepted);
  return hosts.open({ provider, apiUrl, token: text, onAnswer, ...(deadline && { deadline }) });
};

/** The work on one connection in a round of a job. */
export class ConnectionTurn {
  /** The workspace that was worked on last. */
  last: BoundPosition | null = null;
  /** Whether there was no time for all workspaces. */
  isCut = false;

  /** `deadline`: aborts when the time of the connection is over. */
  constructor(readonly deadline: AbortSignal) {}
}

/** The turns of a round by the tokens of their connections. They begin with the first work on the connection. */
export class ConnectionTurns {
  private readonly turns = new Map<string | null, ConnectionTurn>();

  constructor(
    private readonly startDeadline: CommitsJobDependencies['startDeadline'],
    private readonly timeMs: number,
  ) {}

  begin(token: string | null): ConnectionTurn {
    const turn = this.turns.get(token) ?? new ConnectionTurn(this.startDeadline(this.timeMs));
    this.turns.set(token, turn);
    return turn;
  }

  /** Returns where the connections without time for all of their workspaces continue, by their tokens. */
  listPositions(): readonly BoundPosition[] {
    return [...this.turns.values()].flatMap(({ isCut, last }) => (isCut && last ? [last] : []));
  }
}

/** Works on several connections at once, and on the groups of a connection one after another until its turn ends. */
export const forEachConnection = async <T extends { readonly token: string | null }>(
  turns: ConnectionTurns,
  { signal }: JobRun,
  groups: readonly Group<T>[],
  work: (group: Group<T>, turn: ConnectionTurn) => Promise<void>,
): Promise<void> => {
  const connections = [...Map.groupBy(groups, ([{ token }]) => token)];
  const workOnNext = async (): Promise<void> => {
    for (let connection = connections.shift(); connection; connection = connections.shift()) {
      const [token, groupsOfConnection] = connection;
      const turn = turns.begin(token);
      for (const group of groupsOfConnection) {
        if (signal.aborted) return;
        turn.isCut ||= turn.deadline.aborted;
        if (!turn.isCut) await work(group, turn);
      }
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS_AT_ONCE }, workOnNext));
};
