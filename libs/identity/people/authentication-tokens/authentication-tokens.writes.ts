import { sql, unprocessable, type DataOf, type Ids, type Sql } from '#platform/kernel';
import {
  getFirstRow,
  buildSnapshotJson,
  raiseConflictWhen,
  newStream,
  decideWrite,
  type AppendResult,
  type EventStore,
  type StreamSnapshot,
  type StreamWrite,
} from '#storage/event-store';
import { ACTOR_TYPE, hashSecret, type Actor, type TokenAccess, type TokenRestriction } from '#api/access';
import { authenticationToken, type AuthenticationTokenCommand } from './authentication-token.js';
import { selectTokenById, type OwnerForNewToken, type TokenRow } from './authentication-tokens.queries.js';

type NewTokenData = DataOf<AuthenticationTokenCommand, 'CreateAuthenticationToken'>;

/** A new token with its secret, which is returned once and never stored. */
export type IssuedToken = TokenRow & { readonly secret: string };

export type NewToken = {
  readonly write: StreamWrite;
  /**
   * Statements for the append that store the hash and read the row. Pass them last, because `issued` reads the last
   * rows.
   */
  readonly statements: readonly Sql[];
  /** Returns the token from the rows that the append has read. */
  readonly issued: (rows: AppendResult['rows']) => IssuedToken;
};

/** A requested restriction: `organization` is the name of an organization of the token's owner. */
export type RestrictionInput = { readonly access: TokenAccess; readonly organization: string | null };

/** `organizations` are those of the token's owner, and `onlyOrganization` is the id of the requested organization. */
export type OrganizationsForToken = Pick<OwnerForNewToken, 'onlyOrganization' | 'organizations'>;

/**
 * Returns the restriction of a new token. Throws `unprocessable` if the owner of the token is no member of the requested
 * organization.
 */
export const createRestriction = (
  { access, organization }: RestrictionInput,
  { onlyOrganization, organizations }: OrganizationsForToken,
): TokenRestriction => {
  if (organization === null) return { access, organization };
  if (onlyOrganization !== null && organizations.includes(onlyOrganization)) {
    return { access, organization: onlyOrganization };
  }
  throw unprocessable(
    `The owner of the token must be a member of the organization, and is no member of ${JSON.stringify(organization)}`,
    '/data/relationships/organization',
  );
};

/**
 * Returns the organizations whose audit trails record a new token. For a token for one organization, it is this one only,
 * because others must not learn where the owner is a member.
 */
export const listTrailsOfNewToken = (
  { organization }: TokenRestriction,
  { organizations }: OrganizationsForToken,
): readonly string[] => (organization === null ? organizations : [organization]);

/** Returns a new token of the caller: the write and the statements for the append that creates it. */
export const prepareNewToken = (
  ids: Ids,
  organization: string | null,
  token: Omit<NewTokenData, 'createdBy' | 'assurance'>,
  actor: Actor,
): NewToken => {
  const createdBy = { type: ACTOR_TYPE[actor.kind], id: actor.id };
  // Only tokens of users have an assurance: those of teams and organizations act for no person.
  const assurance = token.kind === 'user' ? actor.assurance : null;
  return prepareTokenCreation(ids, organization, { ...token, createdBy, assurance });
};

/** Returns a new token of any creator: the write and the statements for the append that creates it. */
export const prepareTokenCreation = (ids: Ids, organization: string | null, data: NewTokenData): NewToken => {
  const id = ids.next('at');
  const secret = ids.secret();
  const create = { type: 'CreateAuthenticationToken', data } as const;
  return {
    write: decideWrite(authenticationToken, newStream(id, authenticationToken), organization, create),
    statements: [
      sql`insert into access.token_hashes (token, hash) values (${id}, ${hashSecret(secret)})`,
      selectTokenById(id),
    ],
    issued: (rows) => ({ ...getFirstRow<TokenRow>(rows.slice(-1)), secret }),
  };
};

export type OwnedToken = {
  readonly id: string;
  readonly organization: string | null;
  readonly snapshot: StreamSnapshot;
};

/** Returns an expression for all tokens of an owner as jsonb, `OwnedToken[]`, in the order of their destruction. */
export const selectOwnedTokens = (owner: Sql): Sql => sql`coalesce((
  select jsonb_agg(jsonb_build_object('id', token.id, 'organization', token.organization,
                                      'snapshot', ${buildSnapshotJson('its')}) order by token.id)
    from authentication_tokens token join event_store.streams its on its.stream = token.id
   where token.owner = ${owner}), '[]')`;

export type TokenDestruction = { readonly writes: readonly StreamWrite[]; readonly statements: readonly Sql[] };

/**
 * Returns the writes that destroy `tokens`, which were read with `selectOwnedTokens`, and statements for the same
 * append. The statements fail the append if another token was created in between. `organizations`: those of a user whose
 * audit trails record the end of the tokens.
 */
export const prepareTokenDestruction = async (
  store: EventStore,
  owner: string,
  tokens: readonly OwnedToken[],
  organizations: readonly string[] = [],
): Promise<TokenDestruction> => ({
  writes: await prepareTokenEnds(store, tokens, organizations),
  statements: [raiseConflictWhen(sql`exists (select 1 from authentication_tokens where owner = ${owner})`)],
});

/** Returns the writes that destroy tokens. The trails of these organizations record the ends of tokens of a user. */
export const prepareTokenEnds = (
  store: EventStore,
  tokens: readonly OwnedToken[],
  organizations: readonly string[] = [],
): Promise<StreamWrite[]> => {
  const command = { type: 'DestroyAuthenticationToken', data: { organizations } } as const;
  return Promise.all(
    tokens.map(async ({ id, organization, snapshot }) =>
      decideWrite(authenticationToken, await store.restore(id, authenticationToken, snapshot), organization, command),
    ),
  );
};

/**
 * Deletes the hashes of all tokens of these owners, for owners whose deletion appends no event for their tokens. The
 * tokens are rejected from then on.
 */
export const buildTokenHashDeletion = (owners: Sql): Sql => sql`
  delete from access.token_hashes
   where token in (select t.id from authentication_tokens t where t.owner in (${owners}))`;
