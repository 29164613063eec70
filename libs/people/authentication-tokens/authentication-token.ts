import { conflict, requireActive, type Decider, type Message, type Timestamp } from '#kernel';
import type { Assurance, TokenKind } from '#access/rules';

type TokenCreation = {
  kind: TokenKind;
  /** Id of the owner: `user-…`, `team-…`, `org-…`, `apool-…`, `run-…`, or `site` for SCIM. */
  owner: string;
  description: string | null;
  createdBy: { type: string; id: string } | null;
  expiredAt: Timestamp | null;
  /** How the person signed in whose session created the token; null if no session did. */
  assurance: Assurance | null;
};

/** Events never contain the secret. The table access.token_hashes stores its hash under the token's id. */
export type AuthenticationTokenEvent =
  | Message<'AuthenticationTokenCreated', TokenCreation>
  | Message<'AuthenticationTokenDestroyed', { kind: TokenKind; owner: string }>;

export type AuthenticationTokenCommand =
  Message<'CreateAuthenticationToken', TokenCreation> | Message<'DestroyAuthenticationToken', Record<never, never>>;

type TokenState =
  | { readonly status: 'absent' | 'destroyed' }
  | { readonly status: 'active'; readonly kind: TokenKind; readonly owner: string };

export const authenticationToken: Decider<TokenState, AuthenticationTokenCommand, AuthenticationTokenEvent> = {
  version: 1,
  initial: { status: 'absent' },
  decide: {
    CreateAuthenticationToken: ({ kind, owner, description, createdBy, expiredAt, assurance }, state) => {
      if (state.status !== 'absent') throw conflict('Token exists already');
      return [
        {
          type: 'AuthenticationTokenCreated',
          data: { kind, owner, description, createdBy, expiredAt, assurance },
        },
      ];
    },
    DestroyAuthenticationToken: (_, state) => {
      const { kind, owner } = requireActive(state);
      return [{ type: 'AuthenticationTokenDestroyed', data: { kind, owner } }];
    },
  },
  evolve: {
    AuthenticationTokenCreated: ({ kind, owner }) => ({ status: 'active', kind, owner }),
    AuthenticationTokenDestroyed: () => ({ status: 'destroyed' }),
  },
};
