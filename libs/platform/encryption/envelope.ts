import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import type { EncryptionKeys } from './encryption-keys.js';

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

type DerivedKey = {
  readonly source: Buffer;
  readonly key: Buffer;
  /** Version and fingerprint: the first bytes of every secret under this key. */
  readonly header: Buffer;
};

const deriveKey = (source: Buffer, purpose: string): DerivedKey => {
  const derive = (part: string, length: number): Buffer =>
    Buffer.from(hkdfSync('sha256', source, '', `cadastre ${purpose} ${VERSION}${part}`, length));
  const header = Buffer.concat([Buffer.of(VERSION), derive(': mark', KEY_FINGERPRINT_LENGTH)]);
  return { source, key: derive('', KEY_LENGTH), header };
};

/**
 * Returns the fingerprint that a secret begins with, after its version, if it is encrypted with this key for this
 * purpose. Statements count secrets by it.
 */
export const computeSecretFingerprint = (encryptionKey: Buffer, purpose: string): Buffer =>
  deriveKey(encryptionKey, purpose).header.subarray(1);

/** Encrypts and decrypts secrets with keys that are derived from the encryption keys for one purpose. */
export class Envelope {
  private readonly derived: readonly DerivedKey[];

  constructor(
    private readonly keys: EncryptionKeys,
    purpose: string,
  ) {
    this.derived = keys.all.map((source) => deriveKey(source, purpose));
  }

  /** Encrypts with the key that new values get at the moment. */
  encrypt(id: string, secret: Buffer): Buffer {
    const { key, header } = this.derived.find(({ source }) => source === this.keys.writing) as DerivedKey;
    const nonce = randomBytes(NONCE);
    const cipher = createCipheriv(CIPHER, key, nonce).setAAD(bindTo(id, header));
    return Buffer.concat([header, nonce, cipher.update(secret), cipher.final(), cipher.getAuthTag()]);
  }

  /** Decrypts a secret of any configured key. Throws if the secret is damaged or has another key. */
  open(id: string, encrypted: Buffer): Buffer {
    if (encrypted[0] !== VERSION || encrypted.length < HEADER + NONCE + TAG) {
      throw new Error(`the secret ${id} is damaged, or was encrypted by a later version of Cadastre`);
    }
    const derived = this.derived.find(({ header }) => encrypted.subarray(0, HEADER).equals(header));
    if (!derived) throw new Error(`the secret ${id} was encrypted with another encryption key than the configured one`);
    const nonce = encrypted.subarray(HEADER, HEADER + NONCE);
    const decipher = createDecipheriv(CIPHER, derived.key, nonce, { authTagLength: TAG })
      .setAAD(bindTo(id, derived.header))
      .setAuthTag(encrypted.subarray(-TAG));
    try {
      const secret = decipher.update(encrypted.subarray(HEADER + NONCE, -TAG));
      return Buffer.concat([secret, decipher.final()]);
    } catch (cause) {
      throw new Error(`the secret ${id} is damaged, or was copied from the row of another secret`, { cause });
    }
  }
}

const bindTo = (id: string, header: Buffer): Buffer => Buffer.concat([header, Buffer.from(id)]);
