import { Injectable } from '@nestjs/common';
import { createSystemContext } from '#api/access';
import { EventStore } from '#storage/event-store';
import { Clock, Ids, sql, type EventContext } from '#platform/kernel';
import { endSessions, listUsersOfProviderSession } from '#identity/people';
import { findUserByIdentity, isChallengeUsed, useChallenge } from '#identity/sign-in';
import type { LogoutClaims } from '../protocol/logout-claims.js';
import { LOGOUT_TOKEN_SECONDS, OidcFlow } from '../sign-in/oidc-flow.service.js';
import { CLOCK_TOLERANCE_SECONDS } from '../sign-in/sign-in-checks.js';
import { ProviderFault } from '../protocol/provider-fault.js';
import type { IdentityProviderRow } from '../providers/identity-providers.view.js';

const createUsedFault = (): ProviderFault => new ProviderFault('invalid', 'the logout token was used before');

/** Ends sessions here that a provider has ended (OpenID Connect Back-Channel Logout 1.0). */
@Injectable()
export class BackChannelLogout {
  constructor(
    private readonly store: EventStore,
    private readonly ids: Ids,
    private readonly clock: Clock,
    private readonly oidc: OidcFlow,
  ) {}

  /**
   * Ends the sessions that the token names: those with its `sid`, else all sessions of its `sub` with this provider.
   * Throws `ProviderFault` if the token is not valid, was used before, or cannot be checked.
   */
  async end(provider: IdentityProviderRow, token: string, request: EventContext['request']): Promise<void> {
    const claims = await this.oidc.verifyLogoutToken(provider, token);
    const challenge = `logout ${provider.settings.issuer} ${claims.jti}`;
    if (await isChallengeUsed(this.store.database, challenge, this.clock.now())) throw createUsedFault();
    const context = { ...createSystemContext('identity provider', request.id ?? this.ids.uuid()), request };
    const { sid } = claims;
    const where =
      sid === undefined
        ? sql`session.provider = ${provider.id}`
        : sql`session.provider = ${provider.id} and session.provider_session = ${sid}`;
    for (const user of await this.findUsers(provider, claims)) {
      await endSessions(this.store, { user, where, reason: 'provider' }, context);
    }
    // Only now: the provider can send the token again after an error.
    await this.useOnce(challenge);
  }

  private async useOnce(challenge: string): Promise<void> {
    const now = this.clock.now();
    // The token may be from a clock that is ahead. It is refused as too old afterwards.
    const expiredAt = new Date(now.getTime() + (LOGOUT_TOKEN_SECONDS + 2 * CLOCK_TOLERANCE_SECONDS) * 1_000);
    if (!(await useChallenge(this.store.database, challenge, { now, expiredAt }))) throw createUsedFault();
  }

  private async findUsers({ id, settings }: IdentityProviderRow, { sid, sub = '' }: LogoutClaims): Promise<string[]> {
    const { database } = this.store;
    if (sid !== undefined) return listUsersOfProviderSession(database, { provider: id, providerSession: sid });
    const user = await findUserByIdentity(database, { issuer: settings.issuer, subject: sub });
    return user === undefined ? [] : [user];
  }
}
