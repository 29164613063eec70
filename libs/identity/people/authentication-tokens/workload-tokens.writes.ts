import { sql, type EventContext, type Ids, type Timestamp } from '#platform/kernel';
import { UNRESTRICTED } from '#api/access';
import { raiseConflictWhen, type EventStore } from '#storage/event-store';
import { WORKLOAD_IDENTITIES } from './authentication-tokens.queries.js';
import {
  prepareTokenCreation,
  prepareTokenEnds,
  type NewToken,
  type OwnedToken,
  type TokenDestruction,
} from './authentication-tokens.writes.js';
import { hasWorkloadTokens, selectExpiredWorkloadTokens } from './workload-tokens.queries.js';

type WorkloadToken = {
  readonly organization: string;
  readonly team: string;
  /** Id of the workload identity that issues the token. */
  readonly identity: string;
  readonly description: string;
  readonly expiredAt: Timestamp;
};

/** Returns a new token of a team that a workload identity issues. */
export const prepareWorkloadToken = (
  ids: Ids,
  { organization, team, identity, description, expiredAt }: WorkloadToken,
): NewToken =>
  prepareTokenCreation(ids, organization, {
    kind: 'team',
    owner: team,
    description,
    createdBy: { type: WORKLOAD_IDENTITIES, id: identity },
    expiredAt,
    assurance: null,
    organizations: [],
    restriction: UNRESTRICTED,
  });

/**
 * Returns the writes that destroy the tokens of a workload identity, which were read with `selectTokensOfWorkload`, and
 * statements for the same append. The statements fail the append if another token was issued in between.
 */
export const prepareWorkloadTokenDestruction = async (
  store: EventStore,
  { identity, team }: Pick<WorkloadToken, 'identity' | 'team'>,
  tokens: readonly OwnedToken[],
): Promise<TokenDestruction> => ({
  writes: await prepareTokenEnds(store, tokens),
  statements: [raiseConflictWhen(hasWorkloadTokens(sql`${identity}`, sql`${team}`))],
});

/** Destroys at most `most` expired tokens of workload identities. Returns their number. */
export const destroyExpiredWorkloadTokens = (
  store: EventStore,
  { now, most }: { readonly now: Date; readonly most: number },
  context: EventContext,
): Promise<number> =>
  store.retryOnConflict(async () => {
    const expired = await store.database.rows<OwnedToken>(selectExpiredWorkloadTokens(now, most));
    if (expired.length > 0) await store.append(await prepareTokenEnds(store, expired), context);
    return expired.length;
  });
