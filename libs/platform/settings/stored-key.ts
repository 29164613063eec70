/** An encryption key that another service has encrypted, such as `vault:v1:…` (ADR 78). It is no secret. */
type WrappedKey = { readonly wrapped: string };

/** An encryption key as a setting or a file contains it: its 32 bytes, or wrapped. */
export type StoredKey = Buffer | WrappedKey;

const PLAIN = /^[A-Za-z0-9+/]{43}=$/;
/** The shortest ciphertext of 32 bytes is that of AES-GCM, with 60 bytes. RSA keys of 4096 bits make 512 bytes. */
const WRAPPED = /^vault:v[1-9]\d{0,8}:[A-Za-z0-9+/]{80,2000}={0,2}$/;

/** Returns null if the text is neither 32 bytes in base64 nor a wrapped key. */
export const parseStoredKey = (text: string): StoredKey | null => {
  if (PLAIN.test(text)) return Buffer.from(text, 'base64');
  return WRAPPED.test(text) ? { wrapped: text } : null;
};
