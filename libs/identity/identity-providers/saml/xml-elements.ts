import { ProviderFault } from '../protocol/provider-fault.js';

/** An element of a document that a provider has sent. */
export type XmlElement = {
  readonly namespace: string;
  /** Without its prefix. */
  readonly name: string;
  /** By their names without prefixes. Declarations of namespaces are no attributes. */
  readonly attributes: ReadonlyMap<string, string>;
  readonly children: readonly XmlElement[];
  /** The text directly in the element, without that of its children. */
  readonly text: string;
};

/** Characters of a document. A response with 1,000 groups has about 100,000. */
export const MAX_XML = 262_144;

export const PROTOCOL = 'urn:oasis:names:tc:SAML:2.0:protocol';
export const ASSERTION = 'urn:oasis:names:tc:SAML:2.0:assertion';
export const METADATA = 'urn:oasis:names:tc:SAML:2.0:metadata';
export const SIGNATURE = 'http://www.w3.org/2000/09/xmldsig#';
export const ENCRYPTION = 'http://www.w3.org/2001/04/xmlenc#';

export const refuseXml = (message: string): never => {
  throw new ProviderFault('invalid', message);
};

export const isElement = (element: XmlElement, namespace: string, name: string): boolean =>
  element.namespace === namespace && element.name === name;

export const listChildren = (parent: XmlElement, namespace: string, name: string): readonly XmlElement[] =>
  parent.children.filter((child) => isElement(child, namespace, name));

/** Returns the child; undefined if there is none. Throws `ProviderFault` if there are several: readers could differ. */
export const findChild = (parent: XmlElement, namespace: string, name: string): XmlElement | undefined => {
  const matches = listChildren(parent, namespace, name);
  if (matches.length > 1) refuseXml(`${parent.name} has several elements ${name}`);
  return matches[0];
};

export const requireChild = (parent: XmlElement, namespace: string, name: string): XmlElement =>
  findChild(parent, namespace, name) ?? refuseXml(`${parent.name} has no element ${name}`);

export const readText = ({ text }: XmlElement): string => text.trim();

export const requireAttribute = ({ name, attributes }: XmlElement, attribute: string): string =>
  attributes.get(attribute) ?? refuseXml(`${name} has no attribute ${attribute}`);

/** Returns the element and everything in it. */
export const listDescendants = (root: XmlElement): readonly XmlElement[] => {
  const all = [root];
  for (const element of all) all.push(...element.children);
  return all;
};

const ESCAPES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

/** Returns the text for an attribute or an element. */
export const escapeXml = (text: string): string => text.replaceAll(/[&<>"]/g, (character) => ESCAPES[character] ?? '');
