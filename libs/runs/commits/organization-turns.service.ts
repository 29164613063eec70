import type { Clock, Logger } from '#platform/kernel';
import type { Database, JobRun } from '#platform/postgres';
import type { CommitVersions } from '#runs/runs';
import type { ConnectionTokens } from '#vcs/connections';
import {
  GitHostError,
  isConnectedProvider,
  MISSING_RIGHTS,
  type GitHost,
  type GitHosts,
  type ServiceProvider,
} from '#vcs/git-hosts';
import type { BoundPosition, BoundWorkspace } from './followed-repositories.queries.js';
import type { Pauses, PausableWork } from './pauses.service.js';
import type { RepositoryWebhooks } from './repository-webhooks.service.js';

/** Organizations that a job works for at once, so that slow Git hosts of one do not delay the others. */
const ORGANIZATIONS_AT_ONCE = 4;
/** Connections of an organization that a job works on at once, so that a slow one leaves time for the others. */
const CONNECTIONS_AT_ONCE = 2;

export type CommitsJobDependencies = {
  readonly database: Database;
  readonly tokens: Pick<ConnectionTokens, 'open' | 'recordAnswer'>;
  readonly hosts: Pick<GitHosts, 'open'>;
  readonly versions: Pick<CommitVersions, keyof CommitVersions>;
  readonly webhooks: Pick<RepositoryWebhooks, keyof RepositoryWebhooks>;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Work that one job has paused is not attempted by other jobs with the same pauses. */
  readonly pauses: Pauses;
  /** Returns a signal that aborts after the time. */
  readonly startDeadline: (ms: number) => AbortSignal;
};

/** Failures that concern every request with the token. All others concern one repository or commit. */
const CONNECTION_FAILURES: readonly GitHostError['failure'][] = ['unauthorized', 'rate-limited'];

export const isOfConnection = (error: unknown): boolean =>
  error instanceof GitHostError && CONNECTION_FAILURES.includes(error.failure);

/** Whether another attempt does not correct the failure. */
export const isLasting = ({ failure }: GitHostError): boolean => [...MISSING_RIGHTS, 'unexpected'].includes(failure);

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

/** A connection by its token, which is null if it was deleted. */
type OwnedConnection = { readonly organization: string; readonly token: string | null };

const toConnectionKey = ({ organization, token }: OwnedConnection): string => `${organization} ${token ?? ''}`;

/** Where the reading of all repositories begins. */
export type RoundStarts = {
  /** Connections that have had their turn, and wait for others of their organization. */
  readonly served: readonly OwnedConnection[];
  /** The workspaces after which connections continue. */
  readonly positions: readonly BoundPosition[];
};

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

  /**
   * `deadline`: aborts when the time of the organization is over. `isWhole`: whether no other connections had a part of this time
   * before.
   */
  constructor(
    readonly connection: OwnedConnection,
    readonly deadline: AbortSignal,
    readonly isWhole: boolean,
  ) {}

  /** Whether the time was over before anything was done. */
  get hadNoTime(): boolean {
    return this.isCut && this.last === null && !this.isWhole;
  }
}

const toConnection = ({ connection }: ConnectionTurn): OwnedConnection => connection;

/**
 * The turns of a round. All connections of an organization share its time, so that an organization delays others by this time at
 * most, however many connections it has.
 */
export class Turns {
  private readonly deadlines = new Map<string, AbortSignal>();
  private readonly turns = new Map<string, ConnectionTurn>();
  /** Connections whose organization had no time for them. */
  private readonly waiting = new Map<string, OwnedConnection>();

  constructor(
    private readonly startDeadline: CommitsJobDependencies['startDeadline'],
    private readonly timeMs: number,
  ) {}

  /** Returns the turn of a connection; null if the time of its organization was over before. */
  begin({ organization, token }: OwnedConnection): ConnectionTurn | null {
    const key = toConnectionKey({ organization, token });
    const begun = this.turns.get(key);
    if (begun) return begun;
    const deadline = this.deadlines.get(organization) ?? this.startDeadline(this.timeMs);
    this.deadlines.set(organization, deadline);
    if (deadline.aborted) {
      this.waiting.set(key, { organization, token });
      return null;
    }
    const begunBefore = this.listTurns((turn) => turn.deadline === deadline).length;
    const turn = new ConnectionTurn({ organization, token }, deadline, begunBefore < CONNECTIONS_AT_ONCE);
    this.turns.set(key, turn);
    return turn;
  }

  /**
   * Returns where the next round begins. If an organization had no time for some of its connections, they have their turns before
   * the others begin again.
   */
  listStarts(before: RoundStarts): RoundStarts {
    const waiting = [...this.waiting.values(), ...this.listTurns((turn) => turn.hadNoTime).map(toConnection)];
    const unfinished = new Set(waiting.map(({ organization }) => organization));
    const served = [...before.served, ...this.listTurns((turn) => !turn.hadNoTime).map(toConnection)];
    const keptKeys = new Set([...before.served, ...waiting].map(toConnectionKey));
    return {
      served: served.filter(({ organization }) => unfinished.has(organization)),
      positions: [
        ...before.positions.filter((position) => keptKeys.has(toConnectionKey(position))),
        ...this.listTurns((turn) => turn.isCut).flatMap(({ last }) => last ?? []),
      ],
    };
  }

  private listTurns(isListed: (turn: ConnectionTurn) => boolean): readonly ConnectionTurn[] {
    return [...this.turns.values()].filter(isListed);
  }
}

const workOnSome = async <T>(items: readonly T[], atOnce: number, work: (item: T) => Promise<void>): Promise<void> => {
  const waiting = items.values();
  const workOnNext = async (): Promise<void> => {
    for (const item of waiting) await work(item);
  };
  await Promise.all(Array.from({ length: atOnce }, workOnNext));
};

/**
 * Works for several organizations at once, on several connections of each, and on the groups of a connection one after another,
 * until the turn of the organization ends.
 */
export const forEachGroup = async <T extends OwnedConnection>(
  turns: Turns,
  { signal }: JobRun,
  groups: readonly Group<T>[],
  work: (group: Group<T>, turn: ConnectionTurn) => Promise<void>,
): Promise<void> => {
  const workOnConnection = async (groupsOfConnection: Group<Group<T>>): Promise<void> => {
    const turn = turns.begin(groupsOfConnection[0][0]);
    for (const group of groupsOfConnection) {
      if (signal.aborted || turn === null) return;
      turn.isCut ||= turn.deadline.aborted;
      if (!turn.isCut) await work(group, turn);
    }
  };
  await workOnSome(
    toGroups(groups, ([{ organization }]) => organization),
    ORGANIZATIONS_AT_ONCE,
    (ofOrganization) =>
      workOnSome(
        toGroups(ofOrganization, ([row]) => toConnectionKey(row)),
        CONNECTIONS_AT_ONCE,
        workOnConnection,
      ),
  );
};
