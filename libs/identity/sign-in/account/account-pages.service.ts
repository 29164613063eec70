import { Injectable } from '@nestjs/common';
import { RECENT_SIGN_IN_MS, TwoFactorRule, type Actor } from '#api/access';
import { EventStore } from '#storage/event-store';
import type { HtmlPage } from '#api/pages';
import { listClosedOrganizations, listOwnSessions } from '#identity/people';
import { loadMethodsOverview } from '../flow/accounts.queries.js';
import { SignInOptions } from '../flow/sign-in-options.js';
import { SignInTokens } from '../sign-in-tokens.service.js';
import { listLinkedIdentities } from '../identities/linked-identities.view.js';
import { PasskeyCeremonies } from '../passkeys/passkey-ceremonies.service.js';
import { listAccountChanges } from '../notices/account-notices.queries.js';
import { listPasskeys } from '../passkeys/passkeys.queries.js';
import { renderAccountPage, renderTotpPage } from './account.renderer.js';
import type { TotpSetup } from './account.service.js';

/** Renders the pages of an account with what the database contains now. */
@Injectable()
export class AccountPages {
  constructor(
    private readonly store: EventStore,
    private readonly ceremonies: PasskeyCeremonies,
    private readonly options: SignInOptions,
    private readonly tokens: SignInTokens,
    private readonly twoFactor: TwoFactorRule,
  ) {}

  async renderAccount(
    actor: Actor,
    notices: { readonly error?: string | null; readonly done?: string | null },
  ): Promise<HtmlPage> {
    const { database } = this.store;
    const [methods, passkeys, sessions, closedOrganizations, ceremony, identities, options, changes] =
      await Promise.all([
        loadMethodsOverview(database, actor.id),
        listPasskeys(database, actor.id),
        listOwnSessions(database, actor),
        listClosedOrganizations(database, actor),
        this.ceremonies.createRegistration(actor.id, actor.name),
        listLinkedIdentities(database, actor.id),
        this.options.listOptions(),
        listAccountChanges(this.store, actor.id),
      ]);
    const linkToken = this.tokens.sign('identity-link', { user: actor.id, session: actor.token }, RECENT_SIGN_IN_MS);
    const linking = { identities, options, linkToken };
    const currentSession = actor.token;
    const lacksSecondFactor = !this.twoFactor.admits(actor);
    const page = {
      methods,
      passkeys,
      sessions,
      closedOrganizations,
      ceremony,
      linking,
      changes,
      currentSession,
      lacksSecondFactor,
    };
    return renderAccountPage({ ...page, ...notices, username: actor.name });
  }

  async renderTotpSetup(actor: Actor, setup: TotpSetup, error: string | null = null): Promise<HtmlPage> {
    // Loaded here, because most processes draw none.
    const { default: qrcode } = await import('qrcode');
    const qrCode = await qrcode.toString(setup.address, { type: 'svg', margin: 0 });
    return renderTotpPage({ username: actor.name, setup, qrCode, error });
  }
}
