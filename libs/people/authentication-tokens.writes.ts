import { sql, type Sql } from '#kernel';
import { snapshotOf, staleWhen, writeOf, type EventStore, type Snapshot, type Write } from '#event-store';
import { authenticationToken } from './authentication-token.js';

export type OwnedToken = { readonly id: string; readonly organization: string | null; readonly snapshot: Snapshot };

/** An expression that gives all tokens of an owner as jsonb, `OwnedToken[]`. */
export const tokensOf = (owner: Sql): Sql => sql`coalesce((
  select jsonb_agg(jsonb_build_object('id', token.id, 'organization', token.organization,
                                      'snapshot', ${snapshotOf('its')}))
    from authentication_tokens token join event_store.streams its on its.stream = token.id
   where token.owner = ${owner}), '[]')`;

type Destruction = { readonly writes: readonly Write[]; readonly statements: readonly Sql[] };

/**
 * Destroys all tokens of an owner that goes, for the append that ends it: `writes` go to its streams, `statements` are
 * read in it. They fail the append where another token has come in between. `tokens` were read with the owner (tokensOf).
 */
export const destroyTokens = async (
  store: EventStore,
  owner: string,
  tokens: readonly OwnedToken[],
): Promise<Destruction> => {
  const command = { type: 'DestroyAuthenticationToken', data: {} } as const;
  const writes = await Promise.all(
    tokens.map(async ({ id, organization, snapshot }) =>
      writeOf(authenticationToken, await store.restore(id, authenticationToken, snapshot), organization, command),
    ),
  );
  return { writes, statements: [staleWhen(sql`exists (select 1 from authentication_tokens where owner = ${owner})`)] };
};
