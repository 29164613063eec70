import { createCipheriv, createDecipheriv, createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';
import type { PersonalText } from '#kernel';

/*
 * A sealed text is a string again, so that it can stand wherever the text stood, and be carried on by who does not open it:
 *
 *   ~sealed: n or d (name or detail) : the person's id : base64url of
 *
 *   8 bytes  mark of the house: what was not made here is not taken for a sealed text, also when the key is gone
 *   12 bytes nonce, made of the text: the same text of the same person is always sealed alike, and no nonce comes twice
 *   rest     the text in UTF-8, encrypted with AES-256-GCM, and its tag of 16 bytes
 *
 * What stands before it is authenticated with it. All of it is ASCII: Node reads that several times faster than anything else.
 */
const ENCRYPTED_TEXT_PREFIX = '~sealed:';
const MAC_LENGTH = 8;
const NONCE_LENGTH = 12;
const TAG_LENGTH = 16;
const KEY_LENGTH = 32;
const CIPHER = 'aes-256-gcm';

export const isEncryptedText = (text: string): boolean => text.startsWith(ENCRYPTED_TEXT_PREFIX);

/**
 * Strings in JSON that may be sealed texts, their quotes included. A quote that begins a string comes after no backslash, one
 * that ends it before no tilde; and what a colon follows is the name of a member.
 */
export const ENCRYPTED_TEXT_IN_JSON = new RegExp(
  String.raw`(?<!\\)"${ENCRYPTED_TEXT_PREFIX}(?:[^"\\]|\\.)*"(?!\s*:)`,
  'g',
);

const KIND_LETTERS = { name: 'n', detail: 'd' } as const satisfies Record<PersonalText['kind'], string>;

/** What is longer is what a client makes up: people, addresses and programs have shorter names. */
const MAX_CACHED_LENGTH = 256;
/** Some 10 MB of texts in each of the two at the very most, whoever says what. */
const MAX_CACHED_TEXTS = 10_000;

/** What one process has lately sealed and opened, of all people. */
export type TextCache = { readonly sealed: Map<string, string>; readonly opened: Map<string, string> };

const cacheText = (known: Map<string, string>, asked: string, found: string): void => {
  if (known.size >= MAX_CACHED_TEXTS) known.clear();
  known.set(asked, found);
};

/** What a person's texts are sealed under. */
export class PersonKey {
  private readonly nonces: Buffer;
  /** Tells it from another key of the same person, which has been made and was never kept. */
  private readonly sign: string;

  constructor(
    private readonly person: string,
    readonly bytes: Buffer,
    private readonly house: InstallationMac,
    private readonly recent: TextCache,
  ) {
    this.nonces = Buffer.from(hkdfSync('sha256', bytes, '', 'nonces', KEY_LENGTH));
    this.sign = this.nonces.toString('base64url', 0, NONCE_LENGTH);
  }

  seal(kind: PersonalText['kind'], text: string): string {
    const front = `${ENCRYPTED_TEXT_PREFIX}${KIND_LETTERS[kind]}:${this.person}:`;
    const asked = front + text;
    const known = this.recent.sealed.get(this.sign + asked);
    if (known !== undefined) return known;
    const nonce = createHmac('sha256', this.nonces).update(asked).digest().subarray(0, NONCE_LENGTH);
    const cipher = createCipheriv(CIPHER, this.bytes, nonce).setAAD(Buffer.from(front));
    const body = Buffer.concat([nonce, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()]);
    const sealed = front + Buffer.concat([this.house.of(front, body), body]).toString('base64url');
    if (text.length <= MAX_CACHED_LENGTH) cacheText(this.recent.sealed, this.sign + asked, sealed);
    return sealed;
  }

  /** Undefined where it is none of this key's. */
  open(sealed: string): string | undefined {
    const known = this.recent.opened.get(this.sign + sealed);
    if (known !== undefined) return known;
    const parts = splitEncryptedText(sealed);
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
      if (text.length <= MAX_CACHED_LENGTH) cacheText(this.recent.opened, this.sign + sealed, text);
      return text;
    } catch {
      return undefined;
    }
  }
}

/** Tells what was sealed under this house's encryption key from what only looks like it. */
export class InstallationMac {
  private readonly key: Buffer;

  constructor(encryptionKey: Buffer) {
    this.key = Buffer.from(hkdfSync('sha256', encryptionKey, '', 'cadastre sealed texts 1: mark', KEY_LENGTH));
  }

  of(front: string, body: Buffer): Buffer {
    return createHmac('sha256', this.key).update(front).update(body).digest().subarray(0, MAC_LENGTH);
  }

  isOn(sealed: string): boolean {
    const parts = splitEncryptedText(sealed);
    return parts !== null && timingSafeEqual(parts.mark, this.of(parts.front, parts.body));
  }
}

/** Whose it claims to be, and of which kind; null where it looks like no sealed text. */
export const parseEncryptedTextHeader = (sealed: string): Pick<PersonalText, 'person' | 'kind'> | null => {
  const end = sealed.lastIndexOf(':');
  const start = ENCRYPTED_TEXT_PREFIX.length + 2;
  const letter = sealed.charAt(ENCRYPTED_TEXT_PREFIX.length);
  if (!isEncryptedText(sealed) || end <= start || (letter !== KIND_LETTERS.name && letter !== KIND_LETTERS.detail))
    return null;
  return { kind: letter === KIND_LETTERS.name ? 'name' : 'detail', person: sealed.slice(start, end) };
};

type EncryptedTextParts = { readonly front: string; readonly mark: Buffer; readonly body: Buffer };

const splitEncryptedText = (sealed: string): EncryptedTextParts | null => {
  if (!parseEncryptedTextHeader(sealed)) return null;
  const end = sealed.lastIndexOf(':') + 1;
  const bytes = Buffer.from(sealed.slice(end), 'base64url');
  if (bytes.length < MAC_LENGTH + NONCE_LENGTH + TAG_LENGTH) return null;
  return { front: sealed.slice(0, end), mark: bytes.subarray(0, MAC_LENGTH), body: bytes.subarray(MAC_LENGTH) };
};

/** What is read in the place of a text of somebody who has been forgotten. */
export const getPlaceholder = ({ person, kind }: Pick<PersonalText, 'person' | 'kind'>): string | null =>
  kind === 'name' ? person : null;
