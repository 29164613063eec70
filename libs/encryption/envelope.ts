import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';

/*
 * What lies in the database:
 *
 *   1 byte   format version, 1: AES-256-GCM
 *   4 bytes  mark of the key, so that a wrong key is told from damage
 *   12 bytes nonce, random: good for 2^32 secrets under one key (NIST SP 800-38D, 8.3)
 *   rest     what is secret, encrypted, and its tag of 16 bytes
 *
 * Version, mark and the secret's id are authenticated with it: one row's secret put in another's place does not open.
 */
const VERSION = 1;
const KEY_MARK_LENGTH = 4;
const NONCE = 12;
const HEADER = 1 + KEY_MARK_LENGTH;
const TAG = 16;
const KEY_LENGTH = 32;
const CIPHER = 'aes-256-gcm';

/** Seals and opens secrets under a key of its own, derived from the house's for one purpose. */
export class Envelope {
  private readonly key: Buffer;
  private readonly header: Buffer;

  constructor(encryptionKey: Buffer, purpose: string) {
    if (encryptionKey.length !== KEY_LENGTH) throw new Error('the encryption key must be 32 bytes');
    const derive = (part: string, length: number): Buffer =>
      Buffer.from(hkdfSync('sha256', encryptionKey, '', `cadastre ${purpose} ${VERSION}${part}`, length));
    this.key = derive('', KEY_LENGTH);
    this.header = Buffer.concat([Buffer.of(VERSION), derive(': mark', KEY_MARK_LENGTH)]);
  }

  seal(id: string, secret: Buffer): Buffer {
    const nonce = randomBytes(NONCE);
    const cipher = createCipheriv(CIPHER, this.key, nonce).setAAD(this.bound(id));
    return Buffer.concat([this.header, nonce, cipher.update(secret), cipher.final(), cipher.getAuthTag()]);
  }

  open(id: string, sealed: Buffer): Buffer {
    if (sealed[0] !== VERSION || sealed.length < HEADER + NONCE + TAG) {
      throw new Error(`the secret ${id} is damaged, or was sealed by a later version of Cadastre`);
    }
    if (!sealed.subarray(0, HEADER).equals(this.header)) {
      throw new Error(`the secret ${id} was sealed with another encryption key than the one that is set now`);
    }
    const nonce = sealed.subarray(HEADER, HEADER + NONCE);
    const decipher = createDecipheriv(CIPHER, this.key, nonce, { authTagLength: TAG })
      .setAAD(this.bound(id))
      .setAuthTag(sealed.subarray(-TAG));
    try {
      const secret = decipher.update(sealed.subarray(HEADER + NONCE, -TAG));
      return Buffer.concat([secret, decipher.final()]);
    } catch (cause) {
      throw new Error(`the secret ${id} is damaged, or stands in the place of another one`, { cause });
    }
  }

  private bound(id: string): Buffer {
    return Buffer.concat([this.header, Buffer.from(id)]);
  }
}
