import { createHash } from 'node:crypto';
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
  endGrantOf,
  endLease,
  findTokenForUse,
  holdsLease,
  hasLease,
  leaseGrant,
  lockGrant,
  storeGrant,
  storeRenewedGrant,
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

const computeSha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

type RenewableToken = TokenForUse & { readonly expiresAt: string };

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
    const { expiresAt, textSha256 } = row;
    // A process of an earlier version has stored the text of a person, and does not end renewals.
    if (textSha256 !== null && textSha256 !== computeSha256(text)) {
      await endGrantOf(this.dependencies.store.database, token, textSha256);
      return text;
    }
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
    if (!row) return;
    // Another process may have renewed it, or a person may have replaced it.
    const isCurrent = async () => (await this.dependencies.vault.open(token)) === text;
    await this.recordAcceptance(token, row, isAccepted, isCurrent);
  }

  /** Returns the statements that store a token which a host has granted. */
  buildStore(token: string, organization: string, { text, renewal, expiresInS }: GrantedToken): readonly Sql[] {
    const { vault } = this.dependencies;
    const stored = vault.storeSecret(token, organization, text);
    if (renewal === null || expiresInS === null) return [stored, ...buildGrantEnd(token)];
    const grant = {
      token,
      organization,
      expiresAt: this.inFuture(expiresInS * 1_000),
      textSha256: computeSha256(text),
    };
    return [stored, this.storeRenewal(token, renewal), storeGrant(grant)];
  }

  private async renew(token: string, row: RenewableToken): Promise<string> {
    const { store, vault, ids } = this.dependencies;
    const leased = { token, expiresAt: row.expiresAt, lease: ids.uuid() };
    if (!(await leaseGrant(store.database, leased, this.inFuture(0), this.inFuture(LEASE_MS))))
      throw row.isRefused
        ? new GitHostError('unauthorized', 'The Git host refuses the token of the connection. Authorize it again')
        : new GitHostError('unavailable', 'Another process renews the token of the connection', RETRY_AFTER_S);
    const granted = await this.requestRenewal(token, row, leased);
    // If a person has authorized the connection meanwhile, that token stays.
    const condition = holdsLease(leased);
    await store.database.transaction([
      lockGrant(token),
      vault.storeSecret(token, row.organization, granted.text, condition),
      this.storeRenewal(token, granted.renewal, condition),
      storeRenewedGrant({
        ...leased,
        expiresAt: this.inFuture((granted.expiresInS ?? LONGEST_LIFE_S) * 1_000),
        textSha256: computeSha256(granted.text),
      }),
    ]);
    return granted.text;
  }

  /** Exports of an organization have the secrets of the organization. A renewal is none, because two sites cannot use it. */
  private storeRenewal(token: string, renewal: string, condition?: Sql): Sql {
    return this.dependencies.vault.storeSecret(toRenewalId(token), null, renewal, condition);
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
    row: RenewableToken,
    leased: Parameters<typeof hasLease>[1],
  ): Promise<GrantedToken & { readonly renewal: string }> {
    const { store, authorization } = this.dependencies;
    try {
      const { renewal, application } = await this.openApplication(token, row);
      const granted = await authorization.renew(application, renewal);
      return { ...granted, renewal: granted.renewal ?? renewal };
    } catch (error) {
      const isRefused = error instanceof GitHostError && error.failure === 'unauthorized';
      // Until the token expires, the host accepts it.
      if (isRefused && this.isWithin(row.expiresAt, 0))
        await this.recordAcceptance(token, row, false, () => hasLease(store.database, leased));
      await endLease(store.database, leased);
      throw error;
    }
  }

  /** `isCurrent`: returns whether the answer is about the present text. Texts that people store are events of the client. */
  private async recordAcceptance(
    token: string,
    { client, organization }: TokenForUse,
    isAccepted: boolean,
    isCurrent: () => Promise<boolean>,
  ): Promise<void> {
    const { store, ids } = this.dependencies;
    const { loaded } = await store.handle({
      decider: oauthClient,
      // In this order: if a person stores another text after the check, the append conflicts.
      load: async () => ({ ...(await store.load(client, oauthClient)), isCurrent: await isCurrent() }),
      command: (current): OauthClientCommand => ({
        type: 'RecordTokenAnswer',
        data: { token, isAccepted, isCurrent: current.isCurrent },
      }),
      organization: () => organization,
      context: createSystemContext('connections', ids.uuid()),
    });
    if (loaded.isCurrent) this.refused[isAccepted ? 'delete' : 'add'](token);
  }

  private inFuture(ms: number): string {
    return new Date(this.dependencies.clock.now().getTime() + ms).toISOString();
  }

  private isWithin(timestamp: string, ms: number): boolean {
    return Date.parse(timestamp) <= this.dependencies.clock.now().getTime() + ms;
  }
}
