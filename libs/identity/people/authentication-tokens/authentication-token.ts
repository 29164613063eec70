import { conflict, requireActive, type Decider, type Message, type Timestamp } from '#platform/kernel';
import type { Assurance, TokenKind, TokenRestriction } from '#api/access/rules';

type TokenCreation = {
  kind: TokenKind;
  /** Id of the owner: `user-…`, `team-…`, `org-…`, `apool-…`, `run-…`, or for SCIM `site` or `idp-…`. */
  owner: string;
  description: string | null;
  createdBy: { type: string; id: string } | null;
  expiredAt: Timestamp | null;
  /** How the person signed in whose session created the token; null if no session did. */
  assurance: Assurance | null;
  /**
   * Organizations in which the user who owns the token is an active member. Their audit trails record the event. Empty
   * for all other owners, whose organization the event names itself.
   */
  organizations: readonly string[];
  /** The part of the owner's access that the token has. Only tokens of users are restricted. */
  restriction: TokenRestriction;
};

type TokenTrails = Pick<TokenCreation, 'organizations'>;

/** Events never contain the secret. The table access.token_hashes stores its hash under the token's id. */
export type AuthenticationTokenEvent =
  | Message<'AuthenticationTokenCreated', TokenCreation>
  | Message<'AuthenticationTokenDestroyed', { kind: TokenKind; owner: string } & TokenTrails>;

export type AuthenticationTokenCommand =
  Message<'CreateAuthenticationToken', TokenCreation> | Message<'DestroyAuthenticationToken', TokenTrails>;

type TokenState =
  | { readonly status: 'absent' | 'destroyed' }
  | { readonly status: 'active'; readonly kind: TokenKind; readonly owner: string };

export const authenticationToken: Decider<TokenState, AuthenticationTokenCommand, AuthenticationTokenEvent> = {
  version: 1,
  initial: { status: 'absent' },
  decide: {
    CreateAuthenticationToken: (creation, state) => {
      if (state.status !== 'absent') throw conflict('Token exists already');
      const { kind, owner, description, createdBy, expiredAt, assurance, organizations, restriction } = creation;
      // Listed one by one, so that no secret reaches the log.
      const data = { kind, owner, description, createdBy, expiredAt, assurance, organizations, restriction };
      return [{ type: 'AuthenticationTokenCreated', data }];
    },
    DestroyAuthenticationToken: ({ organizations }, state) => {
      const { kind, owner } = requireActive(state);
      return [{ type: 'AuthenticationTokenDestroyed', data: { kind, owner, organizations } }];
    },
  },
  evolve: {
    AuthenticationTokenCreated: ({ kind, owner }) => ({ status: 'active', kind, owner }),
    AuthenticationTokenDestroyed: () => ({ status: 'destroyed' }),
  },
};
