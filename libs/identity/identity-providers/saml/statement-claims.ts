import type { SamlStatement } from './assertions.js';

const EMAIL_FORMAT = 'urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress';

/** Names of the attribute with the address at Entra ID, Okta, Keycloak, Shibboleth and others. */
const EMAIL_ATTRIBUTES = [
  'email',
  'mail',
  'emailAddress',
  'urn:oid:0.9.2342.19200300.100.1.3',
  'urn:oid:1.2.840.113549.1.9.1',
  'http://schemas.xmlsoap.org/ws/2005/05/identity/claims/emailaddress',
];

/**
 * Returns a statement as claims of OpenID Connect, so that the same rules apply. SAML does not say whether an address is
 * verified, so the administrator states it for the provider.
 */
export const toRawClaims = (
  { subject, subjectFormat, sessionIndex, authenticatedAt, attributes }: SamlStatement,
  { provesEmails, groupsClaim }: { readonly provesEmails: boolean; readonly groupsClaim: string },
): Readonly<Record<string, unknown>> => {
  const entries = [...attributes].map(([name, values]) => [name, values.length === 1 ? values[0] : values] as const);
  const stated = EMAIL_ATTRIBUTES.flatMap((name) => attributes.get(name) ?? []);
  const email = stated[0] ?? (subjectFormat === EMAIL_FORMAT ? subject : undefined);
  return {
    // SAML has no usual form of an empty list, so providers leave out the attribute of people without groups.
    [groupsClaim]: [],
    ...Object.fromEntries(entries),
    sub: subject,
    sid: sessionIndex,
    auth_time: Math.floor(authenticatedAt / 1_000),
    email,
    email_verified: provesEmails,
  };
};
