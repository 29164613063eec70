import type { Timestamp } from '#platform/kernel';
import type { Actor } from '#api/access';
import { AggregateCommand, type Operation } from '#storage/event-store';
import type { TokenOwner } from './authentication-tokens.queries.js';
import type { IssuedToken, RestrictionInput } from './authentication-tokens.writes.js';

/** The attributes of a token in a request. */
export type TokenInput = { readonly description: string | null; readonly expiredAt: Timestamp | null };

export type AuthenticationTokenOperations = {
  /**
   * If `replaces` is true, the owner's current token is destroyed in the same append. Without a restriction, the token has
   * all access of its owner.
   */
  IssueToken: Operation<
    { owner: TokenOwner; token: TokenInput; restriction?: RestrictionInput; replaces: boolean; actor: Actor },
    IssuedToken
  >;
  /** `target`: the id of the token, or its owner if the owner has only one. */
  DestroyToken: Operation<{ target: string | TokenOwner; actor: Actor }, void>;
};

export class ChangeAuthenticationToken<T extends keyof AuthenticationTokenOperations> extends AggregateCommand<
  AuthenticationTokenOperations,
  T
> {}
