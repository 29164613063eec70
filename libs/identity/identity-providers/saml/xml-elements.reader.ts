import { createRequire } from 'node:module';
import { MAX_XML, refuseXml, type XmlElement } from './xml-elements.js';

/** Deeper documents would exhaust the stack of the canonicalization. SAML needs about 10 levels. */
const MAX_DEPTH = 40;
const MAX_ELEMENTS = 2_000;
/** Prefixes of namespaces that a document declares. Each element costs time for each of them. */
const MAX_PREFIXES = 20;
/** Attributes of one element. The parser compares each of them with each other one. */
const MAX_ATTRIBUTES = 40;

/** The node of the parser that belongs to an element. Only code for signatures needs it. */
type XmlNode = object;

type DomElement = {
  readonly nodeType: number;
  readonly localName: string | null;
  readonly namespaceURI: string | null;
  readonly data?: string;
  readonly attributes: ArrayLike<{
    readonly localName: string | null;
    readonly namespaceURI: string | null;
    readonly value: string;
  }>;
  readonly childNodes: ArrayLike<DomElement>;
};

type ParserOptions = { readonly errorHandler: Readonly<Record<'warning' | 'error' | 'fatalError', () => never>> };
type ParserClass = new (options: ParserOptions) => {
  parseFromString(text: string, mediaType: string): DomElement | undefined;
};

// Not by `import`: the types of the package would add the types of browsers to all files.
const { DOMParser } = createRequire(import.meta.url)('@xmldom/xmldom') as { readonly DOMParser: ParserClass };

export type ReadXml = {
  readonly root: XmlElement;
  /** Returns the node of an element of this document. */
  readonly getNode: (element: XmlElement) => XmlNode;
};

const ELEMENT_NODE = 1;
const TEXT_NODE = 3;
const NAMESPACE_DECLARATION = 'http://www.w3.org/2000/xmlns/';

const refuseSyntax = (): never => refuseXml('the XML is not well-formed');

/**
 * Parses XML of a provider. It may contain no comment, no CDATA section, no processing instruction and no document type:
 * they are how entities enter, and how texts get several readings. SAML needs none of them. Throws `ProviderFault`.
 */
export const readXml = (text: string): ReadXml => {
  if (text.length > MAX_XML) refuseXml(`the XML has more than ${MAX_XML} characters`);
  const content = text.replace(/^\uFEFF?\s*<\?xml[^<>]*\?>/, '');
  if (/<[!?]/.test(content)) refuseXml('the XML has a comment, a section or a document type');
  refuseExpensive(content);
  const errorHandler = { warning: refuseSyntax, error: refuseSyntax, fatalError: refuseSyntax };
  const document = new DOMParser({ errorHandler }).parseFromString(text, 'text/xml');
  const roots = Array.from(document?.childNodes ?? []).filter(({ nodeType }) => nodeType === ELEMENT_NODE);
  const [root, ...others] = roots;
  if (!root || others.length > 0) return refuseSyntax();
  const nodes = new Map<XmlElement, XmlNode>();
  return { root: readElement(root, 1, nodes), getNode: (element) => nodes.get(element) ?? refuseSyntax() };
};

/** Refuses what would take the parser and the canonicalization long, before either of them runs. */
const refuseExpensive = (text: string): void => {
  const tags = text.match(TAG) ?? [];
  // Each element has at most two.
  if (tags.length > 2 * MAX_ELEMENTS) refuseXml(`the XML has more than ${MAX_ELEMENTS} elements`);
  if (text.replaceAll(TAG, '').includes('<')) refuseSyntax();
  const prefixes = new Set(tags.flatMap((tag) => tag.replaceAll(VALUE, '').match(DECLARATION) ?? []));
  if (prefixes.size > MAX_PREFIXES) refuseXml(`the XML declares more than ${MAX_PREFIXES} prefixes`);
  if (tags.some((tag) => (tag.match(VALUE)?.length ?? 0) > MAX_ATTRIBUTES))
    refuseXml(`an element has more than ${MAX_ATTRIBUTES} attributes`);
};

// Each takes a time that grows only with the length of the text: no part of them can match in two ways.
const TAG = /<(?:[^<>"']|"[^<"]*"|'[^<']*')*>/g;
const VALUE = /"[^"]*"|'[^']*'/g;
const DECLARATION = /xmlns:[^ \t\r\n=]*/g;

const readElement = (node: DomElement, depth: number, nodes: Map<XmlElement, XmlNode>): XmlElement => {
  if (depth > MAX_DEPTH) refuseXml(`the XML has more than ${MAX_DEPTH} levels`);
  if (nodes.size >= MAX_ELEMENTS) refuseXml(`the XML has more than ${MAX_ELEMENTS} elements`);
  const attributes = new Map<string, string>();
  for (const { localName, namespaceURI, value } of Array.from(node.attributes)) {
    if (namespaceURI === NAMESPACE_DECLARATION) continue;
    const name = localName ?? refuseSyntax();
    if (attributes.has(name)) refuseXml(`an element has several attributes ${name}`);
    attributes.set(name, value);
  }
  const content = Array.from(node.childNodes);
  const children: XmlElement[] = [];
  const element: XmlElement = {
    namespace: node.namespaceURI ?? '',
    name: node.localName ?? refuseSyntax(),
    attributes,
    children,
    text: content.map(({ nodeType, data }) => (nodeType === TEXT_NODE ? (data ?? '') : '')).join(''),
  };
  nodes.set(element, node);
  for (const child of content) {
    if (child.nodeType === ELEMENT_NODE) children.push(readElement(child, depth + 1, nodes));
    else if (child.nodeType !== TEXT_NODE) refuseSyntax();
  }
  return element;
};
