import { constants, createDecipheriv, privateDecrypt } from 'node:crypto';
import {
  ENCRYPTION,
  findChild,
  readText,
  refuseXml,
  requireAttribute,
  requireChild,
  SIGNATURE,
  type XmlElement,
} from './xml-elements.js';

const OAEP = ['http://www.w3.org/2001/04/xmlenc#rsa-oaep-mgf1p', 'http://www.w3.org/2009/xmlenc11#rsa-oaep'];
const TAG_BYTES = 16;

type Cipher = {
  readonly name: 'aes-128-cbc' | 'aes-256-cbc' | 'aes-128-gcm' | 'aes-256-gcm';
  readonly keyBytes: number;
};

const CIPHERS: Readonly<Record<string, Cipher>> = {
  'http://www.w3.org/2001/04/xmlenc#aes128-cbc': { name: 'aes-128-cbc', keyBytes: 16 },
  'http://www.w3.org/2001/04/xmlenc#aes256-cbc': { name: 'aes-256-cbc', keyBytes: 32 },
  'http://www.w3.org/2009/xmlenc11#aes128-gcm': { name: 'aes-128-gcm', keyBytes: 16 },
  'http://www.w3.org/2009/xmlenc11#aes256-gcm': { name: 'aes-256-gcm', keyBytes: 32 },
};

/** Digests of OAEP, whose security does not need a digest without collisions. */
const OAEP_DIGESTS: Readonly<Record<string, string>> = {
  'http://www.w3.org/2000/09/xmldsig#sha1': 'sha1',
  'http://www.w3.org/2001/04/xmlenc#sha256': 'sha256',
};

const readCipherValue = (encrypted: XmlElement): Buffer => {
  const data = requireChild(encrypted, ENCRYPTION, 'CipherData');
  return Buffer.from(readText(requireChild(data, ENCRYPTION, 'CipherValue')), 'base64');
};

/** The same for every failure: differences would help to guess the content. */
const refuseDecryption = (): never => refuseXml('the assertion cannot be decrypted');

/** The key is in the encrypted data, or beside it. */
const findEncryptedKey = (encrypted: XmlElement, data: XmlElement): XmlElement => {
  const info = findChild(data, SIGNATURE, 'KeyInfo');
  const inside = info && findChild(info, ENCRYPTION, 'EncryptedKey');
  return inside ?? requireChild(encrypted, ENCRYPTION, 'EncryptedKey');
};

/** Returns the digest of OAEP. Throws `ProviderFault` for other encryptions of keys. */
const readOaepDigest = (encryptedKey: XmlElement): string => {
  const method = requireChild(encryptedKey, ENCRYPTION, 'EncryptionMethod');
  if (!OAEP.includes(requireAttribute(method, 'Algorithm'))) refuseXml('the key must be encrypted with RSA-OAEP');
  const digest = findChild(method, SIGNATURE, 'DigestMethod')?.attributes.get('Algorithm');
  const oaepHash = digest === undefined ? 'sha1' : OAEP_DIGESTS[digest];
  const maskGeneration = method.children.find(({ name }) => name === 'MGF')?.attributes.get('Algorithm');
  // Node uses one digest for both. SHA-1 is the default of the second one.
  if (oaepHash !== (maskGeneration?.split('#mgf1')[1] ?? 'sha1'))
    return refuseXml('RSA-OAEP must use SHA-1 for both digests, or SHA-256');
  return oaepHash;
};

const decryptContent = ({ name, keyBytes }: Cipher, key: Buffer, content: Buffer): Buffer => {
  if (key.length !== keyBytes) refuseDecryption();
  if (name === 'aes-128-gcm' || name === 'aes-256-gcm') {
    const decipher = createDecipheriv(name, key, content.subarray(0, 12), { authTagLength: TAG_BYTES });
    decipher.setAuthTag(content.subarray(-TAG_BYTES));
    return Buffer.concat([decipher.update(content.subarray(12, -TAG_BYTES)), decipher.final()]);
  }
  // The padding has random bytes, unlike that of PKCS #7 (XML Encryption §5.2).
  const decipher = createDecipheriv(name, key, content.subarray(0, 16)).setAutoPadding(false);
  const padded = Buffer.concat([decipher.update(content.subarray(16)), decipher.final()]);
  const padding = padded.at(-1) ?? 0;
  if (padding < 1 || padding > 16) refuseDecryption();
  return padded.subarray(0, -padding);
};

/** Returns the XML of an `EncryptedAssertion`. Throws `ProviderFault`. */
export const decryptAssertion = (encrypted: XmlElement, privateKey: string): string => {
  const data = requireChild(encrypted, ENCRYPTION, 'EncryptedData');
  const method = requireAttribute(requireChild(data, ENCRYPTION, 'EncryptionMethod'), 'Algorithm');
  const cipher = CIPHERS[method] ?? refuseXml('the assertion must be encrypted with AES-128 or AES-256, CBC or GCM');
  const encryptedKey = findEncryptedKey(encrypted, data);
  const [oaepHash, padding] = [readOaepDigest(encryptedKey), constants.RSA_PKCS1_OAEP_PADDING];
  const [wrapped, encryptedContent] = [readCipherValue(encryptedKey), readCipherValue(data)];
  try {
    const key = privateDecrypt({ key: privateKey, padding, oaepHash }, wrapped);
    const content = decryptContent(cipher, key, encryptedContent);
    return new TextDecoder('utf8', { fatal: true }).decode(content);
  } catch {
    return refuseDecryption();
  }
};
