import { createCipheriv, createDecipheriv, createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';
import { HmacKey, type EncryptionKeys } from '#platform/encryption';
import type { PersonalText } from '#platform/kernel';

/**
 * Format of an encrypted text. It is a string, so that code that cannot decrypt it can pass it on in place of the text:
 *
 *   `~sealed:` n or d (name or detail) : the person's id : base64url of the following bytes
 *
 * - 8 bytes: MAC of the installation. It proves that this installation encrypted the text, even if the person's key is
 *   gone.
 * - 12 bytes: nonce, derived from the text: equal texts of a person are encrypted alike, and no nonce is used for two
 *   texts
 * - rest: the text in UTF-8, encrypted with AES-256-GCM, and its tag of 16 bytes
 *
 * The header before the bytes is authenticated with them. Everything is ASCII, which Node reads several times faster
 * than other text.
 */
const ENCRYPTED_TEXT_PREFIX = '~sealed:';
const MAC_LENGTH = 8;
const NONCE_LENGTH = 12;
const TAG_LENGTH = 16;
const KEY_LENGTH = 32;
const CIPHER = 'aes-256-gcm';

export const isEncryptedText = (text: string): boolean => text.startsWith(ENCRYPTED_TEXT_PREFIX);

/**
 * Matches strings in JSON that may be encrypted texts, including their quotes. A quote that begins a string follows no
 * backslash, and a quote that ends one precedes no tilde. A string before a colon is the name of a member.
 */
export const ENCRYPTED_TEXT_IN_JSON = new RegExp(
  String.raw`(?<!\\)"${ENCRYPTED_TEXT_PREFIX}(?:[^"\\]|\\.)*"(?!\s*:)`,
  'g',
);

const KIND_LETTERS = { name: 'n', detail: 'd' } as const satisfies Record<PersonalText['kind'], string>;

/** Longer texts are invented by a client: people, addresses and programs have shorter names. */
const MAX_CACHED_LENGTH = 256;
/** Limits each of the two maps to about 10 MB, whatever clients send. */
const MAX_CACHED_TEXTS = 10_000;

/** The texts of all people that a process recently encrypted and decrypted. */
export type TextCache = { readonly encrypted: Map<string, string>; readonly opened: Map<string, string> };

const cacheText = (cache: Map<string, string>, key: string, value: string): void => {
  if (cache.size >= MAX_CACHED_TEXTS) cache.clear();
  cache.set(key, value);
};

/** The key that encrypts the texts of one person. */
export class PersonKey {
  private readonly nonces: Buffer;
  /** Distinguishes this key in the cache from another key of the same person that was created and never stored. */
  private readonly sign: string;
  private salts: HmacKey | null = null;

  constructor(
    private readonly person: string,
    readonly bytes: Buffer,
    private readonly installationMac: InstallationMac,
    private readonly recent: TextCache,
  ) {
    this.nonces = Buffer.from(hkdfSync('sha256', bytes, '', 'nonces', KEY_LENGTH));
    this.sign = this.nonces.toString('base64url', 0, NONCE_LENGTH);
  }

  /** Returns 32 bytes that nobody can compute without this key. `purpose` distinguishes the values that get a salt. */
  computeSalt(purpose: string): Buffer {
    this.salts ??= new HmacKey(Buffer.from(hkdfSync('sha256', this.bytes, '', 'salts', KEY_LENGTH)));
    return this.salts.compute(purpose);
  }

  encrypt(kind: PersonalText['kind'], text: string): string {
    const front = `${ENCRYPTED_TEXT_PREFIX}${KIND_LETTERS[kind]}:${this.person}:`;
    const plaintext = front + text;
    const cached = this.recent.encrypted.get(this.sign + plaintext);
    if (cached !== undefined) return cached;
    const nonce = createHmac('sha256', this.nonces).update(plaintext).digest().subarray(0, NONCE_LENGTH);
    const cipher = createCipheriv(CIPHER, this.bytes, nonce).setAAD(Buffer.from(front));
    const body = Buffer.concat([nonce, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()]);
    const encrypted = front + Buffer.concat([this.installationMac.of(front, body), body]).toString('base64url');
    if (text.length <= MAX_CACHED_LENGTH) cacheText(this.recent.encrypted, this.sign + plaintext, encrypted);
    return encrypted;
  }

  /** Decrypts a text. Returns undefined if this key did not encrypt it. */
  open(encrypted: string): string | undefined {
    const cached = this.recent.opened.get(this.sign + encrypted);
    if (cached !== undefined) return cached;
    const parts = splitEncryptedText(encrypted);
    if (!parts) return undefined;
    const { front, body } = parts;
    const decipher = createDecipheriv(CIPHER, this.bytes, body.subarray(0, NONCE_LENGTH), { authTagLength: TAG_LENGTH })
      .setAAD(Buffer.from(front))
      .setAuthTag(body.subarray(-TAG_LENGTH));
    try {
      const text = Buffer.concat([
        decipher.update(body.subarray(NONCE_LENGTH, -TAG_LENGTH)),
        decipher.final(),
      ]).toString('utf8');
      if (text.length <= MAX_CACHED_LENGTH) cacheText(this.recent.opened, this.sign + encrypted, text);
      return text;
    } catch {
      return undefined;
    }
  }
}

/** Returns the key of MACs for a site that has always had this encryption key. */
export const deriveMacKey = (encryptionKey: Buffer): Buffer =>
  Buffer.from(hkdfSync('sha256', encryptionKey, '', 'cadastre sealed texts 1: mark', KEY_LENGTH));

/** Recognizes texts that this installation encrypted, as opposed to texts that only look like them. */
export class InstallationMac {
  private key: Buffer | null = null;

  constructor(private readonly keys: EncryptionKeys) {}

  of(front: string, body: Buffer): Buffer {
    // A rotation of the encryption key must not change it: the log contains MACs, and equal texts stay equal.
    this.key ??= this.keys.macKey ?? deriveMacKey(this.keys.writing);
    return createHmac('sha256', this.key).update(front).update(body).digest().subarray(0, MAC_LENGTH);
  }

  isOn(encrypted: string): boolean {
    const parts = splitEncryptedText(encrypted);
    return parts !== null && timingSafeEqual(parts.mac, this.of(parts.front, parts.body));
  }
}

/**
 * Returns the person and the kind that the header of an encrypted text names, without a check; null for any other text.
 */
export const parseEncryptedTextHeader = (encrypted: string): Pick<PersonalText, 'person' | 'kind'> | null => {
  const end = encrypted.lastIndexOf(':');
  const start = ENCRYPTED_TEXT_PREFIX.length + 2;
  const kindLetter = encrypted.charAt(ENCRYPTED_TEXT_PREFIX.length);
  if (
    !isEncryptedText(encrypted) ||
    end <= start ||
    (kindLetter !== KIND_LETTERS.name && kindLetter !== KIND_LETTERS.detail)
  )
    return null;
  return { kind: kindLetter === KIND_LETTERS.name ? 'name' : 'detail', person: encrypted.slice(start, end) };
};

/** An encrypted text of this installation. `text` is null, and there are no salts, once the person has been forgotten. */
export type OpenedText = Pick<PersonalText, 'person' | 'kind'> &
  (
    | { readonly text: string; readonly computeSalt: (purpose: string) => Buffer }
    | { readonly text: null; readonly computeSalt: null }
  );

/** Returns null for a text that is not encrypted. */
export type TextOpener = (text: string) => OpenedText | null;

type EncryptedTextParts = { readonly front: string; readonly mac: Buffer; readonly body: Buffer };

const splitEncryptedText = (encrypted: string): EncryptedTextParts | null => {
  if (!parseEncryptedTextHeader(encrypted)) return null;
  const end = encrypted.lastIndexOf(':') + 1;
  const bytes = Buffer.from(encrypted.slice(end), 'base64url');
  if (bytes.length < MAC_LENGTH + NONCE_LENGTH + TAG_LENGTH) return null;
  return { front: encrypted.slice(0, end), mac: bytes.subarray(0, MAC_LENGTH), body: bytes.subarray(MAC_LENGTH) };
};

/** Returns the replacement for a text of a person who has been forgotten. */
export const getPlaceholder = ({ person, kind }: Pick<PersonalText, 'person' | 'kind'>): string | null =>
  kind === 'name' ? person : null;
