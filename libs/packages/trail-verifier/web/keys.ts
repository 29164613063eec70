import { decodeBase64, encodeHex } from '../formats/base64.js';
import {
  checkKeyId,
  createKeyIdBytes,
  KEY_ID_BYTES,
  splitSignedBytes,
  splitVerifierKey,
  type VerifierKeyParts,
} from '../formats/keys.js';

type WebCryptoKey = Awaited<ReturnType<typeof crypto.subtle.importKey>>;

/** A verifier key that Web Crypto uses. */
export type WebVerifierKey = VerifierKeyParts & { readonly cryptoKey: WebCryptoKey };

const ED25519 = 'Ed25519';

export const computeHash = async (bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array<ArrayBuffer>> =>
  new Uint8Array(await crypto.subtle.digest('SHA-256', bytes));

/** Any valid key: it only has to be read. */
const SAMPLE_KEY = '11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=';

const importKey = (publicKey: Uint8Array<ArrayBuffer>): Promise<WebCryptoKey> =>
  crypto.subtle.importKey('raw', publicKey, ED25519, false, ['verify']);

/** Returns whether Web Crypto verifies Ed25519 here. Chromium does since version 137. */
export const isEd25519Supported = async (): Promise<boolean> => {
  try {
    await importKey(decodeBase64(SAMPLE_KEY) ?? new Uint8Array());
    return true;
  } catch {
    return false;
  }
};

/** Returns the verifier key of a text. Throws RangeError if the text is none, or its id is not the id of the key. */
export const parseWebVerifierKey = async (text: string): Promise<WebVerifierKey> => {
  const parts = splitVerifierKey(text);
  const digest = await computeHash(createKeyIdBytes(parts.name, parts.type, parts.publicKey));
  checkKeyId(parts, encodeHex(digest.subarray(0, KEY_ID_BYTES)));
  return { ...parts, cryptoKey: await importKey(parts.publicKey) };
};

/** Returns whether this is the signature of a key under the text of a note. */
export const verifyWebSignature = async (
  { type, cryptoKey }: WebVerifierKey,
  text: string,
  signature: Uint8Array,
): Promise<boolean> => {
  const parts = splitSignedBytes(type, text, signature);
  return parts !== null && crypto.subtle.verify(ED25519, cryptoKey, parts.signature, parts.signed);
};
