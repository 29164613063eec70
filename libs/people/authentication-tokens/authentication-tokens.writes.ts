import { sql, type DataOf, type Ids, type Sql } from '#kernel';
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
} from '#event-store';
import { ACTOR_TYPE, hashSecret, type Actor } from '#access';
import { authenticationToken, type AuthenticationTokenCommand } from './authentication-token.js';
import { selectTokenById, type TokenRow } from './authentication-tokens.queries.js';

type NewTokenData = DataOf<AuthenticationTokenCommand, 'CreateAuthenticationToken'>;

/** With the secret, which leaves here once and is never kept. */
export type IssuedToken = TokenRow & { readonly secret: string };

type NewToken = {
  readonly write: StreamWrite;
  /** Keep its hash, and read it: for the append, last of what is read with it. */
  readonly statements: readonly Sql[];
  /** Of what that append has read. */
  readonly issued: (rows: AppendResult['rows']) => IssuedToken;
};

/** A new token, for the append that it is born in. */
export const prepareNewToken = (
  ids: Ids,
  organization: string | null,
  token: Omit<NewTokenData, 'createdBy'>,
  actor: Actor,
): NewToken => {
  const id = ids.next('at');
  const secret = ids.secret();
  const birth = { ...token, createdBy: { type: ACTOR_TYPE[actor.kind], id: actor.id } };
  const create = { type: 'CreateAuthenticationToken', data: birth } as const;
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

/** An expression that gives all tokens of an owner as jsonb, `OwnedToken[]`, in the order that they are destroyed in. */
export const selectOwnedTokens = (owner: Sql): Sql => sql`coalesce((
  select jsonb_agg(jsonb_build_object('id', token.id, 'organization', token.organization,
                                      'snapshot', ${buildSnapshotJson('its')}) order by token.id)
    from authentication_tokens token join event_store.streams its on its.stream = token.id
   where token.owner = ${owner}), '[]')`;

export type TokenDestruction = { readonly writes: readonly StreamWrite[]; readonly statements: readonly Sql[] };

/**
 * Destroys all tokens of an owner: `writes` go to their streams, `statements` are read in the same append. They fail the append where another token has come in between. `tokens` were read with the owner (selectOwnedTokens).
 */
export const prepareTokenDestruction = async (
  store: EventStore,
  owner: string,
  tokens: readonly OwnedToken[],
): Promise<TokenDestruction> => {
  const command = { type: 'DestroyAuthenticationToken', data: {} } as const;
  const writes = await Promise.all(
    tokens.map(async ({ id, organization, snapshot }) =>
      decideWrite(authenticationToken, await store.restore(id, authenticationToken, snapshot), organization, command),
    ),
  );
  return {
    writes,
    statements: [raiseConflictWhen(sql`exists (select 1 from authentication_tokens where owner = ${owner})`)],
  };
};

/** Takes their secrets from all tokens of these owners, which open nothing from then on: for who ends without an event here. */
export const buildTokenHashDeletion = (owners: Sql): Sql => sql`
  delete from access.token_hashes
   where token in (select t.id from authentication_tokens t where t.owner in (${owners}))`;
