import { randomBytes, sign } from 'node:crypto';
import { deflateRawSync } from 'node:zlib';
import { ASSERTION, escapeXml, PROTOCOL } from './xml-elements.js';

const RSA_SHA256 = 'http://www.w3.org/2001/04/xmldsig-more#rsa-sha256';
const POST = 'urn:oasis:names:tc:SAML:2.0:bindings:HTTP-POST';

const LOGOUT_REQUEST_MS = 5 * 60_000;

/** Returns the id of a message, which nobody can guess. It must not begin with a digit. */
export const createMessageId = (): string => `_${randomBytes(20).toString('hex')}`;

type SamlMessage = { readonly id: string; readonly entityId: string; readonly destination: string; readonly now: Date };

const renderMessage = (
  name: string,
  { id, entityId, destination, now }: SamlMessage,
  attributes: string,
  content: string,
): string =>
  `<samlp:${name} xmlns:samlp="${PROTOCOL}" xmlns:saml="${ASSERTION}" ID="${id}" Version="2.0" ` +
  `IssueInstant="${now.toISOString()}" Destination="${escapeXml(destination)}"${attributes}>` +
  `<saml:Issuer>${escapeXml(entityId)}</saml:Issuer>${content}</samlp:${name}>`;

/** `forces`: the provider must authenticate the person now. */
export const renderAuthnRequest = (
  message: SamlMessage & { readonly callbackUrl: string; readonly forces: boolean },
): string =>
  renderMessage(
    'AuthnRequest',
    message,
    ` ProtocolBinding="${POST}" AssertionConsumerServiceURL="${escapeXml(message.callbackUrl)}"` +
      (message.forces ? ' ForceAuthn="true"' : ''),
    '<samlp:NameIDPolicy AllowCreate="true"/>',
  );

/** The person and the session that end at the provider. */
export type EndedSubject = {
  readonly subject: string;
  readonly subjectFormat: string | null;
  /** Whether the provider has qualified the name: strict ones compare the qualifiers too. */
  readonly hasQualifier: boolean;
  readonly hasServiceQualifier: boolean;
  readonly sessionIndex: string | null;
};

export const renderLogoutRequest = (
  { issuer, ...message }: SamlMessage & { readonly issuer: string },
  { subject, subjectFormat, hasQualifier, hasServiceQualifier, sessionIndex }: EndedSubject,
): string => {
  const name = [
    ...(hasQualifier ? [` NameQualifier="${escapeXml(issuer)}"`] : []),
    ...(hasServiceQualifier ? [` SPNameQualifier="${escapeXml(message.entityId)}"`] : []),
    ...(subjectFormat === null ? [] : [` Format="${escapeXml(subjectFormat)}"`]),
  ].join('');
  const end = new Date(message.now.getTime() + LOGOUT_REQUEST_MS).toISOString();
  const session = sessionIndex === null ? '' : `<samlp:SessionIndex>${escapeXml(sessionIndex)}</samlp:SessionIndex>`;
  return renderMessage(
    'LogoutRequest',
    message,
    ` NotOnOrAfter="${end}"`,
    `<saml:NameID${name}>${escapeXml(subject)}</saml:NameID>${session}`,
  );
};

type RedirectParts = {
  readonly xml: string;
  readonly relayState: string | null;
  readonly privateKey: string;
};

/** Returns the address that carries a signed message to the provider (HTTP-Redirect binding, SAML Bindings 2.0 §3.4.4). */
export const buildRedirect = (destination: string, { xml, relayState, privateKey }: RedirectParts): string => {
  const query = [
    ['SAMLRequest', deflateRawSync(xml).toString('base64')],
    ...(relayState === null ? [] : [['RelayState', relayState]]),
    ['SigAlg', RSA_SHA256],
  ]
    .map(([key = '', value = '']) => `${key}=${encodeURIComponent(value)}`)
    .join('&');
  const signature = sign('sha256', Buffer.from(query), privateKey).toString('base64');
  const separator = destination.includes('?') ? '&' : '?';
  return `${destination}${separator}${query}&Signature=${encodeURIComponent(signature)}`;
};
