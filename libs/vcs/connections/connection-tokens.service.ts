import type { Clock, Ids, Sql } from '#platform/kernel';
import { createSystemContext } from '#api/access';
import type { EventStore } from '#storage/event-store';
import type { Vault } from '#storage/vault';
import {
  GitHostError,
  isConnectedProvider,
  type GrantedToken,
  type HostApplication,
  type HostAuthorization,
  type ServiceProvider,
} from '#vcs/git-hosts';
import {
  buildGrantEnd,
  findTokenForUse,
  holdsLease,
  leaseGrant,
  lockGrant,
  storeGrant,
  storeRenewedGrant,
  type ExpiringToken,
  type TokenForUse,
} from './connection-tokens.queries.js';
import { oauthClient, type OauthClientCommand } from './oauth-client.js';
import { toClientSecretId, toRenewalId } from './oauth-clients.view.js';

/** A token is renewed this long before it expires, so that requests which have begun do not fail. */
const RENEWED_BEFORE_MS = 5 * 60_000;
/** Longer than the request to the host can take. */
const LEASE_MS = 30_000;
const RETRY_AFTER_S = 5;
/** For a host that stops naming when its tokens expire. */
const LONGEST_LIFE_S = 365 * 24 * 60 * 60;

type ConnectionTokensDependencies = {
  readonly store: EventStore;
  readonly vault: Vault;
  readonly authorization: Pick<HostAuthorization, 'renew'>;
  readonly ids: Ids;
  readonly clock: Clock;
};

/**
 * Opens the tokens of connections, and renews those that expire. A host accepts each renewal once, so a lease in the database
 * lets one process at a time renew a token.
 */
export class ConnectionTokens {
  /** Tokens that their hosts refuse, as far as this process has read. */
  private readonly refused = new Set<string>();

  constructor(private readonly dependencies: ConnectionTokensDependencies) {}

  /** Returns the text of a token; undefined if it was destroyed. Throws `GitHostError` if it has expired and is not renewed. */
  async open(token: string): Promise<string | undefined> {
    const row = await findTokenForUse(this.dependencies.store.database, token);
    if (!row?.encrypted) return undefined;
    this.refused[row.isRefused ? 'add' : 'delete'](token);
    const text = this.dependencies.vault.decrypt(token, row.encrypted);
    const { expiresAt } = row;
    if (expiresAt === null || !this.isWithin(expiresAt, RENEWED_BEFORE_MS)) return text;
    try {
      return await this.renew(token, { ...row, expiresAt });
    } catch (error) {
      if (error instanceof GitHostError && !this.isWithin(expiresAt, 0)) return text;
      throw error;
    }
  }

  /** Records whether the Git host accepts a token. `text`: the text that the host has got. */
  async recordAnswer(token: string, text: string, isAccepted: boolean): Promise<void> {
    if (isAccepted !== this.refused.has(token)) return;
    const row = await findTokenForUse(this.dependencies.store.database, token);
    // Another process has renewed it, or a person has replaced it.
    if (!row?.encrypted || this.dependencies.vault.decrypt(token, row.encrypted) !== text) return;
    await this.recordAcceptance(token, row, isAccepted);
  }

  /** Returns the statements that store a token which a host has granted. */
  buildStore(token: string, organization: string, { text, renewal, expiresInS }: GrantedToken): readonly Sql[] {
    const { vault } = this.dependencies;
    const stored = vault.storeSecret(token, organization, text);
    if (renewal === null || expiresInS === null) return [stored, ...buildGrantEnd(token)];
    const grant = { token, organization, expiresAt: this.inFuture(expiresInS * 1_000) };
    return [stored, vault.storeSecret(toRenewalId(token), organization, renewal), storeGrant(grant)];
  }

  private async renew(token: string, row: TokenForUse & Pick<ExpiringToken, 'expiresAt'>): Promise<string> {
    const { store, vault, authorization, ids } = this.dependencies;
    const leased = { token, expiresAt: row.expiresAt, lease: ids.uuid() };
    if (!(await leaseGrant(store.database, leased, this.inFuture(0), this.inFuture(LEASE_MS))))
      throw new GitHostError('unavailable', 'Another process renews the token of the connection', RETRY_AFTER_S);
    const { renewal, application } = await this.openApplication(token, row);
    const granted = await this.requestRenewal(token, row, () => authorization.renew(application, renewal));
    // If a person has authorized the connection meanwhile, that token stays.
    const condition = holdsLease(leased);
    await store.database.transaction([
      lockGrant(token),
      vault.storeSecret(token, row.organization, granted.text, condition),
      vault.storeSecret(toRenewalId(token), row.organization, granted.renewal ?? renewal, condition),
      storeRenewedGrant({ ...leased, expiresAt: this.inFuture((granted.expiresInS ?? LONGEST_LIFE_S) * 1_000) }),
    ]);
    return granted.text;
  }

  private async openApplication(
    token: string,
    { client, key, httpUrl, serviceProvider }: TokenForUse,
  ): Promise<{ readonly renewal: string; readonly application: HostApplication }> {
    const { vault } = this.dependencies;
    const provider = serviceProvider as ServiceProvider;
    const [renewal, secret] = await Promise.all([vault.open(toRenewalId(token)), vault.open(toClientSecretId(client))]);
    if (key === null || renewal === undefined || secret === undefined || !isConnectedProvider(provider))
      throw new GitHostError('unauthorized', 'The token of the connection has expired, and nothing renews it');
    return { renewal, application: { provider, httpUrl, key, secret } };
  }

  private async requestRenewal(
    token: string,
    row: TokenForUse,
    request: () => Promise<GrantedToken>,
  ): Promise<GrantedToken> {
    try {
      return await request();
    } catch (error) {
      if (error instanceof GitHostError && error.failure === 'unauthorized')
        await this.recordAcceptance(token, row, false);
      throw error;
    }
  }

  private async recordAcceptance(
    token: string,
    { client, organization }: TokenForUse,
    isAccepted: boolean,
  ): Promise<void> {
    const { store, ids } = this.dependencies;
    await store.handle({
      decider: oauthClient,
      load: () => store.load(client, oauthClient),
      command: (): OauthClientCommand => ({ type: 'RecordTokenAnswer', data: { token, isAccepted } }),
      organization: () => organization,
      context: createSystemContext('connections', ids.uuid()),
    });
    this.refused[isAccepted ? 'delete' : 'add'](token);
  }

  private inFuture(ms: number): string {
    return new Date(this.dependencies.clock.now().getTime() + ms).toISOString();
  }

  private isWithin(timestamp: string, ms: number): boolean {
    return Date.parse(timestamp) <= this.dependencies.clock.now().getTime() + ms;
  }
}
