import {
  escapeXml,
  findChild,
  isElement,
  listChildren,
  listDescendants,
  METADATA,
  PROTOCOL,
  readText,
  refuseXml,
  requireAttribute,
  SIGNATURE,
  type XmlElement,
} from './xml-elements.js';

const REDIRECT = 'urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect';
const POST = 'urn:oasis:names:tc:SAML:2.0:bindings:HTTP-POST';

/** What the metadata of a provider say about it. */
export type ProviderMetadataValues = {
  readonly issuer: string;
  readonly signInUrl: string;
  /** Null if the provider has no address to sign out. */
  readonly signOutUrl: string | null;
  readonly certificates: readonly string[];
};

const findRedirectAddress = (role: XmlElement, service: string): string | null =>
  listChildren(role, METADATA, service)
    .find(({ attributes }) => attributes.get('Binding') === REDIRECT)
    ?.attributes.get('Location') ?? null;

/** Keys without a use are for signatures too. */
const listSigningCertificates = (role: XmlElement): readonly string[] =>
  listChildren(role, METADATA, 'KeyDescriptor')
    .filter(({ attributes }) => attributes.get('use') !== 'encryption')
    .flatMap(listDescendants)
    .filter((element) => isElement(element, SIGNATURE, 'X509Certificate'))
    .map(readText);

/** Reads the metadata of a provider (SAML Metadata 2.0 §2.4.3). Throws `ProviderFault` if they do not describe one. */
export const readProviderMetadata = (root: XmlElement): ProviderMetadataValues => {
  if (!isElement(root, METADATA, 'EntityDescriptor')) return refuseXml('the root is no EntityDescriptor');
  const role = findChild(root, METADATA, 'IDPSSODescriptor') ?? refuseXml('they have no IDPSSODescriptor');
  if (!(role.attributes.get('protocolSupportEnumeration') ?? '').split(/\s+/).includes(PROTOCOL))
    refuseXml('the provider does not support SAML 2.0');
  return {
    issuer: requireAttribute(root, 'entityID'),
    signInUrl:
      findRedirectAddress(role, 'SingleSignOnService') ??
      refuseXml('they have no SingleSignOnService with HTTP-Redirect'),
    signOutUrl: findRedirectAddress(role, 'SingleLogoutService'),
    certificates: [...new Set(listSigningCertificates(role))],
  };
};

type ServiceMetadata = {
  readonly entityId: string;
  readonly callbackUrl: string;
  readonly logoutUrl: string;
  /** PEM. */
  readonly certificate: string;
};

const renderKey = (use: string, certificate: string): string =>
  `<md:KeyDescriptor use="${use}"><ds:KeyInfo><ds:X509Data><ds:X509Certificate>${certificate}</ds:X509Certificate></ds:X509Data></ds:KeyInfo></md:KeyDescriptor>`;

/** Renders the metadata of this server, which administrators upload at the provider. */
export const renderServiceMetadata = ({ entityId, callbackUrl, logoutUrl, certificate }: ServiceMetadata): string => {
  const key = certificate.replaceAll(/-----[^-]+-----|\s/g, '');
  return `<?xml version="1.0" encoding="UTF-8"?>
<md:EntityDescriptor xmlns:md="${METADATA}" xmlns:ds="${SIGNATURE}" entityID="${escapeXml(entityId)}">
  <md:SPSSODescriptor AuthnRequestsSigned="true" WantAssertionsSigned="true" protocolSupportEnumeration="${PROTOCOL}">
    ${renderKey('signing', key)}
    ${renderKey('encryption', key)}
    <md:SingleLogoutService Binding="${REDIRECT}" Location="${escapeXml(logoutUrl)}"/>
    <md:AssertionConsumerService Binding="${POST}" Location="${escapeXml(callbackUrl)}" index="0" isDefault="true"/>
  </md:SPSSODescriptor>
</md:EntityDescriptor>
`;
};
