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
const SIGN = '~sealed:';
const MARK = 8;
const NONCE = 12;
const TAG = 16;
const KEY_LENGTH = 32;
const CIPHER = 'aes-256-gcm';

export const isSealed = (text: string): boolean => text.startsWith(SIGN);

const LETTERS = { name: 'n', detail: 'd' } as const satisfies Record<PersonalText['kind'], string>;

/** Texts that one key is kept open for: few people have more at a time. */
const REMEMBERED = 1_000;

const remember = (known: Map<string, string>, key: string, value: string): string => {
  if (known.size >= REMEMBERED) known.clear();
  known.set(key, value);
  return value;
};

/** What a person's texts are sealed under. What it has sealed or opened lately it remembers. */
export class PersonKey {
  private readonly nonces: Buffer;
  private readonly sealed = new Map<string, string>();
  private readonly opened = new Map<string, string>();

  constructor(
    private readonly person: string,
    readonly bytes: Buffer,
    private readonly house: HouseMark,
  ) {
    this.nonces = Buffer.from(hkdfSync('sha256', bytes, '', 'nonces', KEY_LENGTH));
  }

  seal(kind: PersonalText['kind'], text: string): string {
    const front = `${SIGN}${LETTERS[kind]}:${this.person}:`;
    const asked = front + text;
    const known = this.sealed.get(asked);
    if (known !== undefined) return known;
    const nonce = createHmac('sha256', this.nonces).update(asked).digest().subarray(0, NONCE);
    const cipher = createCipheriv(CIPHER, this.bytes, nonce).setAAD(Buffer.from(front));
    const body = Buffer.concat([nonce, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()]);
    const sealed = front + Buffer.concat([this.house.of(front, body), body]).toString('base64url');
    return remember(this.sealed, asked, sealed);
  }

  /** Undefined where it is none of this key's. */
  open(sealed: string): string | undefined {
    const known = this.opened.get(sealed);
    if (known !== undefined) return known;
    const parts = partsOf(sealed);
    if (!parts) return undefined;
    const { front, body } = parts;
    const decipher = createDecipheriv(CIPHER, this.bytes, body.subarray(0, NONCE), { authTagLength: TAG })
      .setAAD(Buffer.from(front))
      .setAuthTag(body.subarray(-TAG));
    try {
      const text = Buffer.concat([decipher.update(body.subarray(NONCE, -TAG)), decipher.final()]).toString('utf8');
      return remember(this.opened, sealed, text);
    } catch {
      return undefined;
    }
  }
}

/** Tells what was sealed under this house's encryption key from what only looks like it. */
export class HouseMark {
  private readonly key: Buffer;

  constructor(encryptionKey: Buffer) {
    this.key = Buffer.from(hkdfSync('sha256', encryptionKey, '', 'cadastre sealed texts 1: mark', KEY_LENGTH));
  }

  of(front: string, body: Buffer): Buffer {
    return createHmac('sha256', this.key).update(front).update(body).digest().subarray(0, MARK);
  }

  isOn(sealed: string): boolean {
    const parts = partsOf(sealed);
    return parts !== null && timingSafeEqual(parts.mark, this.of(parts.front, parts.body));
  }
}

/** Whose it claims to be, and of which kind; null where it looks like no sealed text. */
export const claimOf = (sealed: string): Pick<PersonalText, 'person' | 'kind'> | null => {
  const end = sealed.lastIndexOf(':');
  const start = SIGN.length + 2;
  const letter = sealed.charAt(SIGN.length);
  if (!isSealed(sealed) || end <= start || (letter !== LETTERS.name && letter !== LETTERS.detail)) return null;
  return { kind: letter === LETTERS.name ? 'name' : 'detail', person: sealed.slice(start, end) };
};

type Parts = { readonly front: string; readonly mark: Buffer; readonly body: Buffer };

const partsOf = (sealed: string): Parts | null => {
  if (!claimOf(sealed)) return null;
  const end = sealed.lastIndexOf(':') + 1;
  const bytes = Buffer.from(sealed.slice(end), 'base64url');
  if (bytes.length < MARK + NONCE + TAG) return null;
  return { front: sealed.slice(0, end), mark: bytes.subarray(0, MARK), body: bytes.subarray(MARK) };
};

/** What is read in the place of a text of somebody who has been forgotten. */
export const placeholderOf = ({ person, kind }: Pick<PersonalText, 'person' | 'kind'>): string | null =>
  kind === 'name' ? person : null;
