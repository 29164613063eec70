import { hkdfSync } from 'node:crypto';

const KEY_LENGTH = 32;
const FINGERPRINT_LENGTH = 32;
const ID_LENGTH = 4;

/**
 * Returns a fingerprint that identifies the key and reveals nothing about it: HKDF (HMAC-SHA-256) with its own info
 * string.
 */
export const computeKeyFingerprint = (encryptionKey: Buffer): Buffer =>
  Buffer.from(hkdfSync('sha256', encryptionKey, '', 'cadastre encryption key fingerprint 1', FINGERPRINT_LENGTH));

/** Returns the beginning of a fingerprint in hexadecimal, for people and for names of connections. */
export const formatKeyId = (fingerprint: Buffer): string => fingerprint.toString('hex', 0, ID_LENGTH);

/**
 * The encryption keys of a process: the current one and, while the operator rotates keys, the previous one (ADR 51).
 * Both decrypt. `writing` encrypts and signs.
 */
export class EncryptionKeys {
  private writingKey: Buffer;
  private storedMacKey: Buffer | null = null;
  private readWritingKey: (() => Promise<Buffer>) | null = null;

  /** Both keys have 32 bytes. */
  constructor(
    readonly current: Buffer,
    readonly previous: Buffer | null = null,
  ) {
    this.writingKey = current;
    if (this.all.some(({ length }) => length !== KEY_LENGTH)) throw new Error('the encryption key must be 32 bytes');
  }

  get all(): readonly Buffer[] {
    return this.previous ? [this.current, this.previous] : [this.current];
  }

  /** The key of new values. It is the previous key until the database names the current one. */
  get writing(): Buffer {
    return this.writingKey;
  }

  /** The key of MACs that the database stores, because the log contains MACs for ever; null before the first rotation. */
  get macKey(): Buffer | null {
    return this.storedMacKey;
  }

  /** Returns the key with this fingerprint, or null if it is not configured. */
  find(fingerprint: Buffer): Buffer | null {
    return this.all.find((key) => computeKeyFingerprint(key).equals(fingerprint)) ?? null;
  }

  /** Takes over what the database contains at the start of the process. */
  adopt({ writing, macKey }: { readonly writing: Buffer; readonly macKey: Buffer | null }): void {
    this.writingKey = writing;
    this.storedMacKey = macKey;
  }

  /** Sets the function that reads from the database which key encrypts. */
  watch(readWritingKey: () => Promise<Buffer>): void {
    this.readWritingKey = readWritingKey;
  }

  /** Reads which key encrypts, unless that cannot change any more. */
  async refresh(): Promise<void> {
    if (this.readWritingKey && this.writingKey !== this.current) this.writingKey = await this.readWritingKey();
  }
}
