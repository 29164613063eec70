import { randomBytes } from 'node:crypto';
import type { Clock } from '#platform/kernel';
import { parseIdentityClaims, type IdentityClaims } from '../protocol/identity-claims.js';
import { ProviderFault, toProviderFault } from '../protocol/provider-fault.js';
import { getAssertionPath, getSamlLogoutPath } from '../providers/identity-providers.document.js';
import type { IdentityProviderRow } from '../providers/identity-providers.view.js';
import type { ProviderDirectory } from '../providers/provider-directory.service.js';
import { checkResponse, readAssertion, requireSuccess, type ResponseChecks } from '../saml/assertions.js';
import { decryptAssertion } from '../saml/encrypted-assertions.decrypter.js';
import {
  buildRedirect,
  createMessageId,
  renderAuthnRequest,
  renderLogoutRequest,
  type EndedSubject,
} from '../saml/redirect-requests.crypto.js';
import { renderServiceMetadata } from '../saml/provider-metadata.js';
import { readSignedAssertion } from '../saml/signed-assertions.verifier.js';
import { toRawClaims } from '../saml/statement-claims.js';
import { ASSERTION, findChild, type XmlElement } from '../saml/xml-elements.js';
import { readXml, type ReadXml } from '../saml/xml-elements.reader.js';
import { CLOCK_TOLERANCE_SECONDS, requireRecent, type SignInChecks, type StartedSignIn } from './sign-in-checks.js';

const BASE64 = /^[A-Za-z0-9+/\s]+={0,2}\s*$/;

/** `session`: what a request to end the session at the provider names. */
type VerifiedStatement = { readonly claims: IdentityClaims; readonly session: EndedSubject };

/** Sign-ins by SAML 2.0: requests with the HTTP-Redirect binding, responses with HTTP-POST (SAML Profiles 2.0 §4.1). */
export class SamlFlow {
  constructor(
    private readonly directory: ProviderDirectory,
    private readonly clock: Clock,
    private readonly publicUrl: string,
  ) {}

  /** `maxAge` as in `SignInChecks`. */
  async start(provider: IdentityProviderRow, maxAge: number | null): Promise<StartedSignIn> {
    const { settings, id } = provider;
    const destination = settings.signInUrl ?? refuse('the provider has no sign-in-url');
    const checks = { state: randomBytes(32).toString('base64url'), nonce: createMessageId(), verifier: '', maxAge };
    const xml = renderAuthnRequest({
      id: checks.nonce,
      entityId: settings.clientId,
      destination,
      now: this.clock.now(),
      callbackUrl: `${this.publicUrl}${getAssertionPath(id)}`,
      forces: maxAge !== null,
    });
    const privateKey = await this.getPrivateKey(provider);
    return {
      address: buildRedirect(destination, { xml, relayState: checks.state, privateKey }),
      checks,
    };
  }

  /**
   * Returns what the provider states about the person whose browser brings the response. Throws `ProviderFault` if anything
   * is missing or not valid.
   */
  async finish(
    provider: IdentityProviderRow,
    { nonce, maxAge }: SignInChecks,
    encoded: string,
  ): Promise<VerifiedStatement> {
    const { settings, id } = provider;
    const checks = {
      issuer: settings.issuer,
      audience: settings.clientId,
      recipient: `${this.publicUrl}${getAssertionPath(id)}`,
      requestId: nonce,
      now: this.clock.now(),
      tolerance: CLOCK_TOLERANCE_SECONDS,
    };
    try {
      const xml = decode(encoded);
      const assertion = await this.readVerified(provider, xml, readXml(xml), checks);
      const statement = readAssertion(assertion, checks);
      const claims = parseIdentityClaims(toRawClaims(statement, settings), {}, settings);
      if (!claims) throw new ProviderFault('invalid', 'the NameID is not 1 to 255 visible characters');
      if (maxAge !== null) requireRecent(claims, maxAge, checks.now);
      const { subject, subjectFormat, hasQualifier, hasServiceQualifier, sessionIndex, identity } = statement;
      const sessionEnd = statement.sessionEnd === null ? null : new Date(statement.sessionEnd).toISOString();
      return {
        claims: { ...claims, subject: identity, sessionEnd },
        session: { subject, subjectFormat, hasQualifier, hasServiceQualifier, sessionIndex },
      };
    } catch (error) {
      throw toProviderFault(error);
    }
  }

  /** Returns the address that ends a session at the provider; null if the provider has none. */
  async buildSignOutAddress(provider: IdentityProviderRow, session: EndedSubject): Promise<string | null> {
    const { signOutUrl: destination, clientId: entityId, issuer } = provider.settings;
    if (destination === null) return null;
    const message = { id: createMessageId(), entityId, destination, now: this.clock.now() };
    const xml = renderLogoutRequest({ ...message, issuer }, session);
    return buildRedirect(destination, { xml, relayState: null, privateKey: await this.getPrivateKey(provider) });
  }

  /** Returns the metadata of this server for the provider. */
  describeService({ id, settings }: IdentityProviderRow): string {
    return renderServiceMetadata({
      entityId: settings.clientId,
      callbackUrl: `${this.publicUrl}${getAssertionPath(id)}`,
      logoutUrl: `${this.publicUrl}${getSamlLogoutPath(id)}`,
      certificate: settings.serviceCertificate ?? refuse('this server has no key for the provider'),
    });
  }

  private async readVerified(
    provider: IdentityProviderRow,
    xml: string,
    response: ReadXml,
    checks: ResponseChecks,
  ): Promise<XmlElement> {
    checkResponse(response.root, checks);
    requireSuccess(response.root);
    const { certificates } = provider.settings;
    const encrypted = findChild(response.root, ASSERTION, 'EncryptedAssertion');
    if (!encrypted) return readSignedAssertion(xml, response, certificates);
    if (findChild(response.root, ASSERTION, 'Assertion')) refuse('there are several assertions');
    const decrypted = decryptAssertion(encrypted, await this.getPrivateKey(provider));
    return readSignedAssertion(decrypted, readXml(decrypted), certificates);
  }

  private async getPrivateKey(provider: IdentityProviderRow): Promise<string> {
    return (await this.directory.getServiceKey(provider)) ?? refuse('this server has no key for the provider');
  }
}

const refuse = (message: string): never => {
  throw new ProviderFault('invalid', message);
};

const decode = (encoded: string): string => {
  if (!BASE64.test(encoded)) refuse('the response is not Base64');
  try {
    return new TextDecoder('utf8', { fatal: true }).decode(Buffer.from(encoded, 'base64'));
  } catch {
    return refuse('the response is not UTF-8');
  }
};
