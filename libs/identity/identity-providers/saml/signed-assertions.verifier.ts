import { SignedXml } from 'xml-crypto';
import { readXml, type ReadXml } from './xml-elements.reader.js';
import {
  ASSERTION,
  findChild,
  isElement,
  listDescendants,
  readText,
  refuseXml,
  requireAttribute,
  requireChild,
  SIGNATURE,
  type XmlElement,
} from './xml-elements.js';

const EXCLUSIVE = 'http://www.w3.org/2001/10/xml-exc-c14n#';
const ENVELOPED = 'http://www.w3.org/2000/09/xmldsig#enveloped-signature';
/** Neither SHA-1, which can be forged, nor HMAC, whose key would be the public one. */
const SIGNATURES = [
  'http://www.w3.org/2001/04/xmldsig-more#rsa-sha256',
  'http://www.w3.org/2001/04/xmldsig-more#rsa-sha512',
  'http://www.w3.org/2007/05/xmldsig-more#sha256-rsa-MGF1',
];
const DIGESTS = ['http://www.w3.org/2001/04/xmlenc#sha256', 'http://www.w3.org/2001/04/xmlenc#sha512'];
const ID_ATTRIBUTES = ['ID', 'Id', 'id'];

const requireAlgorithm = (element: XmlElement, allowed: readonly string[]): void => {
  const algorithm = requireAttribute(element, 'Algorithm');
  if (!allowed.includes(algorithm)) refuseXml(`${element.name} has an algorithm that is not accepted`);
};

/** Each id occurs once: a signature could otherwise cover another element than the one that is read. */
const requireUniqueIds = (root: XmlElement): void => {
  const ids = listDescendants(root).flatMap(({ attributes }) =>
    ID_ATTRIBUTES.flatMap((name) => attributes.get(name) ?? []),
  );
  if (new Set(ids).size < ids.length) refuseXml('the XML has an ID twice');
};

type OwnSignature = { readonly signature: XmlElement; readonly signedInfo: XmlElement; readonly value: string };

/** Requires one signature, of the whole element that contains it, with allowed algorithms. Returns it. */
const requireOwnSignature = (element: XmlElement, id: string): OwnSignature => {
  const signature = findChild(element, SIGNATURE, 'Signature') ?? refuseXml(`the ${element.name} is not signed`);
  const all = listDescendants(element).filter((one) => isElement(one, SIGNATURE, 'Signature'));
  if (all.length > 1) refuseXml(`the ${element.name} has several signatures`);
  const parts = signature.children.map(({ namespace, name }) => (namespace === SIGNATURE ? name : '')).join(' ');
  if (!/^SignedInfo SignatureValue(?: KeyInfo)?$/.test(parts)) refuseXml('the signature has unknown parts');
  const signedInfo = requireChild(signature, SIGNATURE, 'SignedInfo');
  requireAlgorithm(requireChild(signedInfo, SIGNATURE, 'CanonicalizationMethod'), [EXCLUSIVE]);
  requireAlgorithm(requireChild(signedInfo, SIGNATURE, 'SignatureMethod'), SIGNATURES);
  const reference = requireChild(signedInfo, SIGNATURE, 'Reference');
  requireAlgorithm(requireChild(reference, SIGNATURE, 'DigestMethod'), DIGESTS);
  if (reference.attributes.get('URI') !== `#${id}`) refuseXml(`the signature is not that of the ${element.name}`);
  const transforms = requireChild(reference, SIGNATURE, 'Transforms').children;
  for (const transform of transforms) requireAlgorithm(transform, [ENVELOPED, EXCLUSIVE]);
  if (transforms.length > 2) refuseXml('the signature has too many transforms');
  return { signature, signedInfo, value: readText(requireChild(signature, SIGNATURE, 'SignatureValue')) };
};

const ID = /^[A-Za-z_][\w.-]{0,255}$/;

const pick = <T>(all: Readonly<Record<string, T>>, names: readonly string[]): Record<string, T> =>
  Object.fromEntries(Object.entries(all).filter(([name]) => names.includes(name)));

/** The library finds algorithms by other ways than the checks, so it knows the allowed ones only. */
const createVerifier = (publicCert: string): SignedXml => {
  const verifier = new SignedXml({ publicCert, getCertFromKeyInfo: () => null });
  verifier.idAttributes = ['ID'];
  verifier.SignatureAlgorithms = pick(verifier.SignatureAlgorithms, SIGNATURES);
  verifier.HashAlgorithms = pick(verifier.HashAlgorithms, DIGESTS);
  verifier.CanonicalizationAlgorithms = pick(verifier.CanonicalizationAlgorithms, [EXCLUSIVE, ENVELOPED]);
  return verifier;
};

type LibraryNode = Parameters<SignedXml['getCanonXml']>[1];

/**
 * Returns the certificate whose key has made the signature. That the signature covers the element is another check, which
 * costs much more and needs to run once only.
 */
const findSigner = (
  { signedInfo, value }: OwnSignature,
  getNode: ReadXml['getNode'],
  certificates: readonly string[],
): string | undefined => {
  const verifier = createVerifier('');
  const name = requireAttribute(requireChild(signedInfo, SIGNATURE, 'SignatureMethod'), 'Algorithm');
  const Algorithm = verifier.SignatureAlgorithms[name as keyof SignedXml['SignatureAlgorithms']];
  try {
    const content = verifier.getCanonXml([EXCLUSIVE], getNode(signedInfo) as LibraryNode);
    return (
      Algorithm && certificates.find((certificate) => new Algorithm().verifySignature(content, certificate, value))
    );
  } catch {
    // Its messages contain parts of the document.
    return undefined;
  }
};

const verifyWith = (xml: string, signature: object, publicCert: string): string | undefined => {
  const verifier = createVerifier(publicCert);
  try {
    verifier.loadSignature(signature as Parameters<SignedXml['loadSignature']>[0]);
    if (verifier.canonicalizationAlgorithm !== EXCLUSIVE || !verifier.checkSignature(xml)) return undefined;
  } catch {
    // Its messages contain parts of the document.
    return undefined;
  }
  const [content, ...others] = verifier.getSignedReferences();
  return others.length === 0 ? content : undefined;
};

/**
 * Returns an element as its signature covers it, parsed again from the signed bytes: nothing else in the document can
 * change what is read. Throws `ProviderFault` if none of the certificates has signed the element.
 */
const readSignedElement = (
  xml: string,
  { root, getNode }: ReadXml,
  element: XmlElement,
  certificates: readonly string[],
): XmlElement => {
  requireUniqueIds(root);
  const id = requireAttribute(element, 'ID');
  if (!ID.test(id)) refuseXml(`${element.name} has an ID that is not accepted`);
  const own = requireOwnSignature(element, id);
  const signer = findSigner(own, getNode, certificates) ?? refuseXml('no certificate of the provider has signed it');
  const content = verifyWith(xml, getNode(own.signature), signer) ?? refuseXml('it differs from what was signed');
  const signed = readXml(content).root;
  if (!isElement(signed, element.namespace, element.name) || signed.attributes.get('ID') !== id)
    refuseXml('the signature covers another element');
  return signed;
};

/** As `readSignedElement`, for the only assertion of a document. */
export const readSignedAssertion = (xml: string, read: ReadXml, certificates: readonly string[]): XmlElement => {
  const assertions = listDescendants(read.root).filter(({ name }) => name === 'Assertion');
  const [assertion, ...others] = assertions;
  if (!assertion || !isElement(assertion, ASSERTION, 'Assertion')) return refuseXml('there is no assertion');
  if (others.length > 0) refuseXml('there are several assertions');
  if (assertion !== read.root && !read.root.children.includes(assertion))
    refuseXml('the assertion is not directly in the response');
  return readSignedElement(xml, read, assertion, certificates);
};
