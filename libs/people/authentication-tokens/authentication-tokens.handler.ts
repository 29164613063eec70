import { Inject } from '@nestjs/common';
import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { checkQuota, Clock, Ids, Quotas, Refusal, type Timestamp } from '#kernel';
import { EventStore, expectVersion, decideWrite } from '#event-store';
import { getViolatedConstraint } from '#postgres';
import { createEventContext, type Actor } from '#access';
import { authenticationToken } from './authentication-token.js';
import { loadOwnerForNewToken, findAuthenticationToken, type TokenOwner } from './authentication-tokens.queries.js';
import { prepareNewToken, type IssuedToken } from './authentication-tokens.writes.js';
import { checkExpiry, checkTtl, computeExpiry, type TokenLifetime } from './token-lifetime.js';

/** Injection token of a setting: the lifetime of tokens whose request names no expiry time. */
export const TOKEN_LIFETIME = 'cadastre:token-lifetime';

/** Attributes of a token in a request. */
export type TokenInput = { readonly description: string | null; readonly expiredAt: Timestamp | null };

export class IssueToken extends Command<IssuedToken> {
  constructor(
    readonly owner: TokenOwner,
    readonly token: TokenInput,
    /** Whether the new token replaces the existing one, which is rejected from then on. */
    readonly replaces: boolean,
    readonly actor: Actor,
  ) {
    super();
  }
}

export class DestroyToken extends Command<void> {
  constructor(
    /** The token's id, or the owner of a single token. */
    readonly target: string | TokenOwner,
    readonly actor: Actor,
  ) {
    super();
  }
}

const DESTROY = { type: 'DestroyAuthenticationToken', data: {} } as const;

const refuseSecond = (error: unknown): never => {
  if (getViolatedConstraint(error) !== 'authentication_tokens_team_description_key') throw error;
  // go-tfe compares the title and the whole detail (ErrInvalidDescriptionConflict).
  const detail = 'Validation failed: Description has already been taken';
  throw new Refusal('unprocessable', [
    { title: 'invalid attributes', detail, pointer: '/data/attributes/description' },
  ]);
};

@CommandHandler(IssueToken)
export class IssueTokenHandler implements ICommandHandler<IssueToken> {
  constructor(
    private readonly store: EventStore,
    private readonly ids: Ids,
    private readonly clock: Clock,
    @Inject(TOKEN_LIFETIME) private readonly lifetime: TokenLifetime | null,
    private readonly quotas: Quotas,
  ) {}

  execute(command: IssueToken): Promise<IssuedToken> {
    return this.store
      .untilFirst(() => this.issue(command), { races: 'authentication_tokens_only_one' })
      .catch(refuseSecond);
  }

  private async issue({ owner, token, replaces, actor }: IssueToken): Promise<IssuedToken> {
    const ownerRow = await loadOwnerForNewToken(this.store.database, actor, owner, replaces);
    const { kind, owner: ownerId, organization } = ownerRow;
    const now = this.clock.now();
    checkExpiry(token.expiredAt, now);
    checkTtl(token.expiredAt, ownerRow.maxTtlMs, now);
    checkQuota('tokensPerOwner', this.quotas.tokensPerOwner, ownerRow.existing - ownerRow.replaced.length);
    // Machines use the tokens of agent pools for years, and clients expect no expiry time.
    const expiredAt =
      token.expiredAt ?? (kind === 'agent' ? null : computeExpiry(this.lifetime, now, ownerRow.maxTtlMs));
    const data = { kind, owner: ownerId, description: token.description, expiredAt };
    const newToken = prepareNewToken(this.ids, organization, data, actor);
    const replaced = await Promise.all(
      ownerRow.replaced.map((old) => this.store.restore(old.id, authenticationToken, old.snapshot)),
    );
    const { rows } = await this.store.append(
      [
        ...ownerRow.preconditions.map(({ stream, version }) => expectVersion(stream, version)),
        ...replaced.map((old) => decideWrite(authenticationToken, old, organization, DESTROY)),
        newToken.write,
      ],
      createEventContext(actor),
      newToken.statements,
      [],
      now,
    );
    return newToken.issued(rows);
  }
}

@CommandHandler(DestroyToken)
export class DestroyTokenHandler implements ICommandHandler<DestroyToken> {
  constructor(private readonly store: EventStore) {}

  async execute({ target, actor }: DestroyToken): Promise<void> {
    await this.store.handle({
      decider: authenticationToken,
      load: async () => {
        const row = await findAuthenticationToken(this.store.database, actor, target);
        return { ...(await this.store.restore(row.id, authenticationToken, row.snapshot)), row };
      },
      command: () => DESTROY,
      organization: ({ row }) => row.organization,
      context: createEventContext(actor),
    });
  }
}
