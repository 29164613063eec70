import { Injectable } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { describeRequest, type Actor } from '#api/access';
import { redirectToPage } from '#api/pages';
import { AccountService, getNextPath, SignInFlow, type SignInRequest } from '#identity/sign-in';
import { countOidcResult } from '../identity-providers.metrics.js';
import type { IdentityClaims } from '../protocol/identity-claims.js';
import { ProviderFault } from '../protocol/provider-fault.js';
import { toIdentityIssuer, type ProviderSettings } from '../protocol/provider-settings.js';
import type { IdentityProviderRow } from '../providers/identity-providers.view.js';
import { ProviderDirectory } from '../providers/provider-directory.service.js';
import { IdentitySignIn } from './identity-sign-in.service.js';
import { renderExpiredPage, renderRefusedPage } from './oidc-pages.renderer.js';
import { PendingSignIns, type PendingProviderSignIn } from './pending-sign-ins.service.js';
import { sendStatusPage, SignInStart } from './sign-in-start.service.js';
import { findUnsatisfiedRules } from './sign-in-rules.js';

const HOME = '/account';

type VerifiedSignIn = {
  readonly provider: IdentityProviderRow;
  readonly claims: IdentityClaims;
  readonly pending: PendingProviderSignIn;
};

/** The answer of a provider. `actor`: of the session that the browser has. */
type ProviderAnswer = {
  readonly provider: string;
  readonly protocol: ProviderSettings['protocol'];
  readonly state: unknown;
  readonly actor: Actor | null;
};

type AnswerVerifier = (provider: IdentityProviderRow, pending: PendingProviderSignIn) => Promise<IdentityClaims>;

/** Ends sign-ins and links that have started in this browser, with the answer of the provider. */
@Injectable()
export class FinishedSignIns {
  constructor(
    private readonly directory: ProviderDirectory,
    private readonly starts: SignInStart,
    private readonly pending: PendingSignIns,
    private readonly identities: IdentitySignIn,
    private readonly account: AccountService,
    private readonly flow: SignInFlow,
  ) {}

  /** `verify` throws `ProviderFault` if the answer does not prove who the person is. */
  async finish(
    reply: FastifyReply,
    { provider: id, protocol, state, actor }: ProviderAnswer,
    verify: AnswerVerifier,
  ): Promise<string | void> {
    const { cookie } = reply.request.headers;
    // Not after the check of the answer: a check of XML costs much.
    if (protocol === 'saml') await this.flow.requireNoDelay({ request: describeRequest(reply.request) });
    const pending = await this.pending.use(cookie, state);
    const provider = pending?.provider === id ? await this.directory.findEnabledWith(protocol, id) : undefined;
    if (!pending || !provider) {
      countOidcResult(null, 'expired');
      return sendStatusPage(reply, renderExpiredPage());
    }
    void reply.header('set-cookie', this.pending.forget());
    const signIn = { request: describeRequest(reply.request), cookies: cookie, actor };
    try {
      const verified = { provider, claims: await verify(provider, pending), pending };
      return await (pending.link ? this.link(reply, verified, actor) : this.signIn(reply, verified, signIn));
    } catch (error) {
      // An outage of the provider does not count: a delay would also block the other sign-in methods.
      if (error instanceof ProviderFault && error.kind !== 'unreachable') await this.flow.countFailedIdentity(signIn);
      return this.starts.showFault(reply, error, { provider, purpose: pending });
    }
  }

  private async signIn(
    reply: FastifyReply,
    { provider, claims, pending: { returnTo, confirms } }: VerifiedSignIn,
    request: SignInRequest,
  ): Promise<string | void> {
    const result = await this.identities.signIn({ provider, claims }, request);
    countOidcResult(provider.id, result.outcome === 'refused' ? 'not-allowed' : result.outcome);
    if (result.outcome === 'refused') {
      return sendStatusPage(reply, renderRefusedPage(provider.settings.name, result.faults, { returnTo, confirms }));
    }
    void reply.header('set-cookie', [...result.cookies]);
    return redirectToPage(reply, getNextPath(result.outcome, returnTo));
  }

  /** Links the account of the session that started the link. */
  private async link(
    reply: FastifyReply,
    { provider, claims, pending: { link } }: VerifiedSignIn,
    actor: Actor | null,
  ): Promise<string | void> {
    const { id, settings } = provider;
    if (!actor || actor.id !== link?.user || actor.token !== link.session) {
      return sendStatusPage(reply, renderExpiredPage());
    }
    const faults = findUnsatisfiedRules(claims, settings);
    if (faults.length > 0) {
      countOidcResult(id, 'not-allowed');
      return sendStatusPage(reply, renderRefusedPage(settings.name, faults, { returnTo: HOME }));
    }
    await this.account.linkIdentity(actor, {
      provider: id,
      issuer: toIdentityIssuer(settings),
      subject: claims.subject,
    });
    countOidcResult(id, 'linked');
    return redirectToPage(reply, '/account?done=identity-linked');
  }
}
