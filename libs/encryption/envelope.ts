import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';

/**
 * Format of an encrypted secret in the database:
 *
 * - 1 byte: format version, 1: AES-256-GCM
 * - 4 bytes: fingerprint of the key, which distinguishes a wrong key from damage
 * - 12 bytes: random nonce, sufficient for 2^32 secrets under one key (NIST SP 800-38D, 8.3)
 * - rest: the encrypted secret and its tag of 16 bytes
 *
 * Version, fingerprint and the secret's id are authenticated with the secret: a secret that was copied to another row
 * cannot be decrypted.
 */
const VERSION = 1;
const KEY_FINGERPRINT_LENGTH = 4;
const NONCE = 12;
const HEADER = 1 + KEY_FINGERPRINT_LENGTH;
const TAG = 16;
const KEY_LENGTH = 32;
const CIPHER = 'aes-256-gcm';

/** Encrypts and decrypts secrets with a key that is derived from the encryption key for one purpose. */
export class Envelope {
  private readonly key: Buffer;
  private readonly header: Buffer;

  constructor(encryptionKey: Buffer, purpose: string) {
    if (encryptionKey.length !== KEY_LENGTH) throw new Error('the encryption key must be 32 bytes');
    const derive = (part: string, length: number): Buffer =>
      Buffer.from(hkdfSync('sha256', encryptionKey, '', `cadastre ${purpose} ${VERSION}${part}`, length));
    this.key = derive('', KEY_LENGTH);
    this.header = Buffer.concat([Buffer.of(VERSION), derive(': mark', KEY_FINGERPRINT_LENGTH)]);
  }

  encrypt(id: string, secret: Buffer): Buffer {
    const nonce = randomBytes(NONCE);
    const cipher = createCipheriv(CIPHER, this.key, nonce).setAAD(this.bound(id));
    return Buffer.concat([this.header, nonce, cipher.update(secret), cipher.final(), cipher.getAuthTag()]);
  }

  open(id: string, encrypted: Buffer): Buffer {
    if (encrypted[0] !== VERSION || encrypted.length < HEADER + NONCE + TAG) {
      throw new Error(`the secret ${id} is damaged, or was encrypted by a later version of Cadastre`);
    }
    if (!encrypted.subarray(0, HEADER).equals(this.header)) {
      throw new Error(`the secret ${id} was encrypted with another encryption key than the configured one`);
    }
    const nonce = encrypted.subarray(HEADER, HEADER + NONCE);
    const decipher = createDecipheriv(CIPHER, this.key, nonce, { authTagLength: TAG })
      .setAAD(this.bound(id))
      .setAuthTag(encrypted.subarray(-TAG));
    try {
      const secret = decipher.update(encrypted.subarray(HEADER + NONCE, -TAG));
      return Buffer.concat([secret, decipher.final()]);
    } catch (cause) {
      throw new Error(`the secret ${id} is damaged, or was copied from the row of another secret`, { cause });
    }
  }

  private bound(id: string): Buffer {
    return Buffer.concat([this.header, Buffer.from(id)]);
  }
}
