import { Inject } from '@nestjs/common';
import { CommandHandler } from '@nestjs/cqrs';
import { type Timestamp, checkQuota, Clock, Ids, Quotas, Refusal, unprocessable } from '#platform/kernel';
import { getViolatedConstraint } from '#platform/postgres';
import { type Actor, createEventContext, UNRESTRICTED, changeResource } from '#api/access';
import {
  AggregateCommand,
  type Operation,
  AggregateHandler,
  EventStore,
  decideWrite,
  expectVersion,
  type OperationTable,
} from '#storage/event-store';
import { type TokenOwner, loadOwnerForNewToken, findAuthenticationToken } from './authentication-tokens.queries.js';
import {
  type IssuedToken,
  type RestrictionInput,
  createRestriction,
  listTrailsOfNewToken,
  prepareNewToken,
} from './authentication-tokens.writes.js';
import { authenticationToken } from './authentication-token.js';
import { checkExpiry, checkTtl, computeExpiry, type TokenLifetime } from './token-lifetime.js';

/** The attributes of a token in a request. */
export type TokenInput = { readonly description: string | null; readonly expiredAt: Timestamp | null };

type AuthenticationTokenOperations = {
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

/** Injection token of a setting: the lifetime of tokens whose request names no expiry time. */
export const TOKEN_LIFETIME = 'cadastre:token-lifetime';

const createDestruction = (organizations: readonly string[]) =>
  ({ type: 'DestroyAuthenticationToken', data: { organizations } }) as const;

const refuseSecond = (error: unknown): never => {
  if (getViolatedConstraint(error) !== 'authentication_tokens_team_description_key') throw error;
  // go-tfe compares the title and the whole detail (ErrInvalidDescriptionConflict).
  const detail = 'Validation failed: Description has already been taken';
  throw new Refusal('unprocessable', [
    { title: 'invalid attributes', detail, pointer: '/data/attributes/description' },
  ]);
};

type IssueInput = AuthenticationTokenOperations['IssueToken']['input'];

@CommandHandler(ChangeAuthenticationToken)
export class AuthenticationTokensHandler extends AggregateHandler<AuthenticationTokenOperations> {
  protected readonly operations: OperationTable<AuthenticationTokenOperations> = {
    IssueToken: (input) =>
      this.store
        .retryOnConflict(() => this.issue(input), { races: 'authentication_tokens_only_one' })
        .catch(refuseSecond),
    DestroyToken: (input) => this.destroy(input),
  };

  constructor(
    private readonly store: EventStore,
    private readonly ids: Ids,
    private readonly clock: Clock,
    @Inject(TOKEN_LIFETIME) private readonly lifetime: TokenLifetime | null,
    private readonly quotas: Quotas,
  ) {
    super();
  }

  private async issue(input: IssueInput): Promise<IssuedToken> {
    const { owner, token, restriction: requested = UNRESTRICTED, replaces, actor } = input;
    const options = { replaces, onlyOrganization: requested.organization };
    const ownerRow = await loadOwnerForNewToken(this.store.database, actor, owner, options);
    const { kind, owner: ownerId, organization } = ownerRow;
    const restriction = createRestriction(requested, ownerRow);
    const organizations = listTrailsOfNewToken(restriction, ownerRow);
    if (ownerRow.isSuspended) throw unprocessable('The user is suspended, so the user cannot have new tokens');
    const now = this.clock.now();
    checkExpiry(token.expiredAt, now);
    checkTtl(token.expiredAt, ownerRow.maxTtlMs, now);
    checkQuota('tokensPerOwner', this.quotas.tokensPerOwner, ownerRow.existing - ownerRow.replaced.length);
    // Machines use the tokens of agent pools for years, and clients expect no expiry time.
    const expiredAt =
      token.expiredAt ?? (kind === 'agent' ? null : computeExpiry(this.lifetime, now, ownerRow.maxTtlMs));
    const details = { kind, owner: ownerId, description: token.description, expiredAt, organizations, restriction };
    const newToken = prepareNewToken(this.ids, organization, details, actor);
    const replaced = await Promise.all(
      ownerRow.replaced.map((old) => this.store.restore(old.id, authenticationToken, old.snapshot)),
    );
    const { rows } = await this.store.append(
      [
        ...ownerRow.preconditions.map(({ stream, version }) => expectVersion(stream, version)),
        ...replaced.map((old) => decideWrite(authenticationToken, old, organization, createDestruction(organizations))),
        newToken.write,
      ],
      createEventContext(actor),
      newToken.statements,
      [],
      now,
    );
    return newToken.issued(rows);
  }

  private async destroy({ target, actor }: AuthenticationTokenOperations['DestroyToken']['input']): Promise<void> {
    await changeResource(this.store, authenticationToken, {
      actor,
      load: () => findAuthenticationToken(this.store.database, actor, target),
      command: ({ organizations }) => createDestruction(organizations),
    });
  }
}
