import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { Ids, notFound, sql, type EventContext, type Timestamp } from '#kernel';
import { EventStore, unborn, unchanged, writeOf, type Write } from '#event-store';
import { authenticationToken, type TokenKind } from './authentication-token.js';
import { hashOf } from './authenticator.js';

export type NewToken = {
  readonly kind: TokenKind;
  readonly owner: string;
  readonly organization: string | null;
  readonly description: string | null;
  readonly createdBy: { readonly type: string; readonly id: string } | null;
  readonly expiredAt: Timestamp | null;
};

export type IssuedToken = NewToken & { readonly id: string; readonly secret: string; readonly createdAt: Timestamp };

/** Issues a token; the secret leaves here once and is never kept. */
export class IssueToken extends Command<IssuedToken> {
  constructor(
    readonly token: NewToken,
    readonly context: EventContext,
    /** Takes the place of the one before, which opens nothing from then on. */
    readonly onlyOne = false,
  ) {
    super();
  }
}

export class DestroyToken extends Command<void> {
  constructor(
    readonly id: string,
    readonly organization: string | null,
    readonly context: EventContext,
  ) {
    super();
  }
}

@CommandHandler(IssueToken)
export class IssueTokenHandler implements ICommandHandler<IssueToken> {
  constructor(
    private readonly store: EventStore,
    private readonly ids: Ids,
  ) {}

  execute(command: IssueToken): Promise<IssuedToken> {
    return this.store.untilFirst(() => this.issue(command), { races: 'authentication_tokens_only_one' });
  }

  private async issue({ token, context, onlyOne }: IssueToken): Promise<IssuedToken> {
    const id = this.ids.next('at');
    const secret = this.ids.secret();
    const { organization, ...birth } = token;
    const replaced = onlyOne ? await this.before(token) : [];
    const held = organization === null ? [] : [await this.holding(organization)];
    const destroy = { type: 'DestroyAuthenticationToken', data: {} } as const;
    const create = { type: 'CreateAuthenticationToken', data: birth } as const;
    const { events } = await this.store.append(
      [
        ...held,
        ...replaced.map((old) => writeOf(authenticationToken, old, organization, destroy)),
        writeOf(authenticationToken, unborn(id, authenticationToken), organization, create),
      ],
      context,
      [
        ...replaced.map(({ stream }) => sql`delete from access.token_hashes where token = ${stream}`),
        sql`insert into access.token_hashes (token, hash) values (${id}, ${hashOf(secret)})`,
      ],
    );
    return { ...token, id, secret, createdAt: events.at(-1)?.time ?? '' };
  }

  private async before({ owner, kind }: NewToken) {
    const rows = await this.store.database.rows<{ id: string }>(sql`
      select id from authentication_tokens
       where owner = ${owner} and kind = ${kind} and (kind <> 'team' or description is null)`);
    const tokens = await Promise.all(rows.map(({ id }) => this.store.load(id, authenticationToken)));
    // One that has been replaced since is somebody else's: the constraint then says that they were faster.
    return tokens.filter(({ state }) => state.status === 'active');
  }

  /** Its organization must not be gone when the token comes. */
  private async holding(organization: string): Promise<Write> {
    const row = await this.store.database.row<{ version: number }>(sql`
      select s.version from organizations o join event_store.streams s on s.stream = o.id where o.id = ${organization}`);
    if (!row) throw notFound();
    return unchanged(organization, row.version);
  }
}

@CommandHandler(DestroyToken)
export class DestroyTokenHandler implements ICommandHandler<DestroyToken> {
  constructor(private readonly store: EventStore) {}

  async execute({ id, organization, context }: DestroyToken): Promise<void> {
    await this.store.handle({
      decider: authenticationToken,
      load: () => this.store.load(id, authenticationToken),
      command: () => ({ type: 'DestroyAuthenticationToken', data: {} }) as const,
      organization: () => organization,
      context,
      read: () => [sql`delete from access.token_hashes where token = ${id}`],
    });
  }
}
