import { parseInstant } from '#platform/kernel';
import { ProviderFault } from '../protocol/provider-fault.js';
import {
  ASSERTION,
  findChild,
  isElement,
  listChildren,
  PROTOCOL,
  readText,
  refuseXml,
  requireAttribute,
  requireChild,
  type XmlElement,
} from './xml-elements.js';

/** What a response must be for: this request, this server and this time. */
export type ResponseChecks = {
  /** The entity ID of the provider. */
  readonly issuer: string;
  /** The entity ID of this server at the provider. */
  readonly audience: string;
  /** The address of this server to which the provider sends responses. */
  readonly recipient: string;
  /** The id of the request that the response answers. */
  readonly requestId: string;
  readonly now: Date;
  /** Seconds by which the clock of the provider may differ. */
  readonly tolerance: number;
};

/** What a provider states about a person in an assertion. */
export type SamlStatement = {
  readonly subject: string;
  readonly subjectFormat: string | null;
  /** Whether the name has a qualifier for the provider, and one for this server. */
  readonly hasQualifier: boolean;
  readonly hasServiceQualifier: boolean;
  /** The text and its format: one text can name two people in two formats. */
  readonly identity: string;
  /** The provider's id of its own session; null if it states none. */
  readonly sessionIndex: string | null;
  /** When the person authenticated at the provider, in milliseconds. */
  readonly authenticatedAt: number;
  /** When sessions that the sign-in starts must end, in milliseconds; null if the provider does not limit them. */
  readonly sessionEnd: number | null;
  readonly attributes: ReadonlyMap<string, readonly string[]>;
};

const SUCCESS = 'urn:oasis:names:tc:SAML:2.0:status:Success';
const BEARER = 'urn:oasis:names:tc:SAML:2.0:cm:bearer';
const TRANSIENT = 'urn:oasis:names:tc:SAML:2.0:nameid-format:transient';
const UNSPECIFIED = 'urn:oasis:names:tc:SAML:1.1:nameid-format:unspecified';
const KNOWN_CONDITIONS = ['AudienceRestriction', 'OneTimeUse', 'ProxyRestriction'];

const requireVersion = (element: XmlElement): void => {
  if (element.attributes.get('Version') !== '2.0') refuseXml(`${element.name} is not of SAML 2.0`);
};

/** Throws `refused` with the code of the provider. The last code is the most precise one. */
export const requireSuccess = (response: XmlElement): void => {
  let code = requireChild(requireChild(response, PROTOCOL, 'Status'), PROTOCOL, 'StatusCode');
  if (code.attributes.get('Value') === SUCCESS) return;
  for (let inner = findChild(code, PROTOCOL, 'StatusCode'); inner; inner = findChild(code, PROTOCOL, 'StatusCode'))
    code = inner;
  const [name = ''] = /[\w.-]{1,64}$/.exec(code.attributes.get('Value') ?? '') ?? [];
  throw new ProviderFault('refused', name || 'unknown_error');
};

/** Checks the envelope. It need not be signed, so the assertion repeats everything that matters. */
export const checkResponse = (response: XmlElement, { issuer, recipient, requestId }: ResponseChecks): void => {
  if (!isElement(response, PROTOCOL, 'Response')) refuseXml('the XML is no response');
  requireVersion(response);
  const sender = findChild(response, ASSERTION, 'Issuer');
  if (sender && readText(sender) !== issuer) refuseXml('the response is of another issuer');
  if ((response.attributes.get('Destination') ?? recipient) !== recipient)
    refuseXml('the response is for another destination');
  if (response.attributes.get('InResponseTo') !== requestId) refuseXml('the response answers another request');
};

const readTime = (element: XmlElement, attribute: string): number | undefined => {
  const text = element.attributes.get(attribute);
  if (text === undefined) return undefined;
  return parseInstant(text) ?? refuseXml(`${attribute} of ${element.name} is no time`);
};

const requireValidTime = (element: XmlElement, { now, tolerance }: ResponseChecks): void => {
  const [from, until] = [readTime(element, 'NotBefore'), readTime(element, 'NotOnOrAfter')];
  if (from !== undefined && from > now.getTime() + tolerance * 1_000) refuseXml(`${element.name} is not valid yet`);
  if (until !== undefined && until <= now.getTime() - tolerance * 1_000) refuseXml(`${element.name} is too old`);
};

const checkConditions = (assertion: XmlElement, checks: ResponseChecks): void => {
  const conditions = requireChild(assertion, ASSERTION, 'Conditions');
  requireValidTime(conditions, checks);
  if (conditions.children.some(({ namespace, name }) => namespace !== ASSERTION || !KNOWN_CONDITIONS.includes(name)))
    refuseXml('the assertion has an unknown condition');
  const restrictions = listChildren(conditions, ASSERTION, 'AudienceRestriction');
  const isForUs = (restriction: XmlElement): boolean =>
    listChildren(restriction, ASSERTION, 'Audience').some((audience) => readText(audience) === checks.audience);
  if (restrictions.length === 0 || !restrictions.every(isForUs)) refuseXml('the assertion is for another audience');
};

/** The person who brings the assertion is its subject, if a confirmation is for this server, this request and this time. */
const checkConfirmation = (subject: XmlElement, checks: ResponseChecks): void => {
  let fault = new ProviderFault('invalid', 'the assertion has no confirmation of the bearer');
  for (const confirmation of listChildren(subject, ASSERTION, 'SubjectConfirmation')) {
    if (confirmation.attributes.get('Method') !== BEARER) continue;
    try {
      const data = requireChild(confirmation, ASSERTION, 'SubjectConfirmationData');
      if (requireAttribute(data, 'Recipient') !== checks.recipient) refuseXml('the assertion is for another recipient');
      if (requireAttribute(data, 'InResponseTo') !== checks.requestId)
        refuseXml('the assertion answers another request');
      requireAttribute(data, 'NotOnOrAfter');
      return requireValidTime(data, checks);
    } catch (error) {
      if (!(error instanceof ProviderFault)) throw error;
      fault = error;
    }
  }
  throw fault;
};

const readAuthentication = (
  assertion: XmlElement,
  { now, tolerance }: ResponseChecks,
): Pick<SamlStatement, 'sessionIndex' | 'authenticatedAt' | 'sessionEnd'> => {
  const [statement] = listChildren(assertion, ASSERTION, 'AuthnStatement');
  if (!statement) return refuseXml('the assertion does not state that the person has authenticated');
  const authenticatedAt = readTime(statement, 'AuthnInstant') ?? refuseXml('AuthnStatement has no AuthnInstant');
  if (authenticatedAt > now.getTime() + tolerance * 1_000) refuseXml('AuthnInstant is in the future');
  const end = readTime(statement, 'SessionNotOnOrAfter');
  if (end !== undefined && end <= now.getTime() - tolerance * 1_000) refuseXml('the session at the provider has ended');
  // With the tolerance, so that a session does not end before it starts.
  const sessionEnd = end === undefined ? null : end + tolerance * 1_000;
  return { authenticatedAt, sessionEnd, sessionIndex: statement.attributes.get('SessionIndex') ?? null };
};

const readAttributes = (assertion: XmlElement): SamlStatement['attributes'] => {
  const attributes = new Map<string, readonly string[]>();
  for (const statement of listChildren(assertion, ASSERTION, 'AttributeStatement')) {
    for (const attribute of listChildren(statement, ASSERTION, 'Attribute')) {
      const name = requireAttribute(attribute, 'Name');
      const values = listChildren(attribute, ASSERTION, 'AttributeValue').map(readText);
      attributes.set(name, [...(attributes.get(name) ?? []), ...values]);
    }
  }
  return attributes;
};

/**
 * Names are unique within the provider and this server, which are also what missing qualifiers mean (SAML Core §8.3.7).
 * People can request another format, and choose their names in some of them.
 */
const readName = (
  subject: XmlElement,
  { issuer, audience }: ResponseChecks,
): Pick<SamlStatement, 'subject' | 'subjectFormat' | 'identity' | 'hasQualifier' | 'hasServiceQualifier'> => {
  const nameId = requireChild(subject, ASSERTION, 'NameID');
  const { attributes } = nameId;
  const format = attributes.get('Format') ?? UNSPECIFIED;
  if (format === TRANSIENT) refuseXml('the NameID is transient, so it identifies nobody at the next sign-in');
  if (!/^[\x21-\x7e]{1,255}$/.test(format)) refuseXml('the NameID has a format that is not accepted');
  if ((attributes.get('NameQualifier') ?? issuer) !== issuer) refuseXml('the NameID is of another provider');
  if ((attributes.get('SPNameQualifier') ?? audience) !== audience) refuseXml('the NameID is for another service');
  const text = readText(nameId);
  return {
    subject: text,
    subjectFormat: attributes.get('Format') ?? null,
    hasQualifier: attributes.has('NameQualifier'),
    hasServiceQualifier: attributes.has('SPNameQualifier'),
    identity: `${format} ${text}`,
  };
};

/** Returns the statement of an assertion whose signature was verified. Throws `ProviderFault` if a check fails. */
export const readAssertion = (assertion: XmlElement, checks: ResponseChecks): SamlStatement => {
  requireVersion(assertion);
  if (readText(requireChild(assertion, ASSERTION, 'Issuer')) !== checks.issuer)
    refuseXml('the assertion is of another issuer');
  const issued = readTime(assertion, 'IssueInstant') ?? refuseXml('Assertion has no IssueInstant');
  if (issued > checks.now.getTime() + checks.tolerance * 1_000) refuseXml('the assertion was issued in the future');
  checkConditions(assertion, checks);
  const subject = requireChild(assertion, ASSERTION, 'Subject');
  checkConfirmation(subject, checks);
  return {
    ...readName(subject, checks),
    ...readAuthentication(assertion, checks),
    attributes: readAttributes(assertion),
  };
};
