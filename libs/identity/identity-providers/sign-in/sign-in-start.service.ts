import { Injectable, Logger } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { sendPage } from '#api/pages';
import { countOidcResult } from '../identity-providers.metrics.js';
import { OidcFlow } from './oidc-flow.service.js';
import { ProviderFault } from '../protocol/provider-fault.js';
import type { IdentityProviderRow } from '../providers/identity-providers.view.js';
import { renderFaultPage, type StatusPage } from './oidc-pages.renderer.js';
import { PendingSignIns, type SignInPurpose } from './pending-sign-ins.service.js';
import { SamlFlow } from './saml-flow.service.js';

/** A person who confirms who they are must have authenticated at the provider at most this long ago. */
const CONFIRMATION_SECONDS = 300;

/** Redirects to a page of a provider. */
export const redirectToProvider = (reply: FastifyReply, address: string): void => {
  void reply.status(303).header('location', address).removeHeader('content-type');
};

export const sendStatusPage = (reply: FastifyReply, { status, page }: StatusPage): string =>
  sendPage(reply, status, page);

/** Starts sign-ins and links, and shows why a provider did not prove who a person is. */
@Injectable()
export class SignInStart {
  private readonly logger = new Logger('IdentityProviders');

  constructor(
    private readonly oidc: OidcFlow,
    private readonly saml: SamlFlow,
    private readonly pending: PendingSignIns,
  ) {}

  /** Redirects to the provider, or returns a page if it cannot be reached. */
  async redirect(reply: FastifyReply, provider: IdentityProviderRow, purpose: SignInPurpose): Promise<string | void> {
    try {
      const flow = provider.settings.protocol === 'saml' ? this.saml : this.oidc;
      const { address, checks } = await flow.start(provider, purpose.confirms ? CONFIRMATION_SECONDS : null);
      void reply.header('set-cookie', this.pending.remember({ ...checks, ...purpose, provider: provider.id }));
      return redirectToProvider(reply, address);
    } catch (error) {
      return this.showFault(reply, error, { provider, purpose });
    }
  }

  /** Returns a page for a fault of the provider, and logs it. Throws any other error. */
  showFault(
    reply: FastifyReply,
    error: unknown,
    { provider, purpose }: { readonly provider: IdentityProviderRow; readonly purpose: SignInPurpose },
  ): string {
    if (!(error instanceof ProviderFault)) throw error;
    const { id, settings } = provider;
    const requestId = reply.request.id;
    this.logger.warn('A sign-in with an identity provider failed', {
      provider: id,
      result: error.kind,
      reason: error.message,
      requestId,
    });
    countOidcResult(id, error.kind);
    const { returnTo, confirms } = purpose;
    return sendStatusPage(reply, renderFaultPage(error, { name: settings.name, requestId, returnTo, confirms }));
  }
}
