import { Injectable } from '@nestjs/common';
import { toString as drawQrCode } from 'qrcode';
import type { Actor } from '#access';
import type { HtmlPage } from '#pages';
import { listClosedOrganizations, listOwnSessions } from '#people';
import { Database } from '#postgres';
import { loadMethodsOverview } from '../flow/accounts.queries.js';
import { PasskeyCeremonies } from '../passkeys/passkey-ceremonies.service.js';
import { listPasskeys } from '../passkeys/passkeys.queries.js';
import { renderAccountPage, renderTotpPage } from '../pages/account.renderer.js';
import type { TotpSetup } from './account.service.js';

/** Renders the pages of an account with what the database contains now. */
@Injectable()
export class AccountPages {
  constructor(
    private readonly database: Database,
    private readonly ceremonies: PasskeyCeremonies,
  ) {}

  async renderAccount(
    actor: Actor,
    notices: { readonly error?: string | null; readonly done?: string | null },
  ): Promise<HtmlPage> {
    const { database } = this;
    const [methods, passkeys, sessions, closedOrganizations, ceremony] = await Promise.all([
      loadMethodsOverview(database, actor.id),
      listPasskeys(database, actor.id),
      listOwnSessions(database, actor),
      listClosedOrganizations(database, actor),
      this.ceremonies.createRegistration(actor.id, actor.name),
    ]);
    const page = { methods, passkeys, sessions, closedOrganizations, ceremony, currentSession: actor.token };
    return renderAccountPage({ ...page, ...notices, username: actor.name });
  }

  async renderTotpSetup(actor: Actor, setup: TotpSetup, error: string | null = null): Promise<HtmlPage> {
    const qrCode = await drawQrCode(setup.address, { type: 'svg', margin: 0 });
    return renderTotpPage({ username: actor.name, setup, qrCode, error });
  }
}
