import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';
import type { EncryptionKeys } from '#platform/encryption';
import { forbidden, type Clock } from '#platform/kernel';

/** Clients upload minutes after they get the link. Links of a provider version live for about a day. */
export const LINK_LIFETIME_MS = 24 * 60 * 60 * 1000;

/** No link lives longer: LINK_LIFETIME_MS, rounded up to a full hour, and time for processes to notice a new key. */
export const MAX_LINK_LIFETIME_MS = LINK_LIFETIME_MS + 61 * 60 * 1000;

/**
 * Signs and checks tokens in URL paths that grant a permission: clients upload files, and the CLI downloads providers,
 * without an API token. A token contains its subject and its expiry, signed with HMAC-SHA256.
 *
 * The key is derived for one purpose, so a token of one part of Cadastre is invalid for another part. While the operator
 * rotates the encryption key, tokens of both keys are valid.
 */
export class SignedLinks {
  /** The key of links for each encryption key. */
  private readonly derived: ReadonlyMap<Buffer, Buffer>;

  constructor(
    private readonly keys: EncryptionKeys,
    purpose: string,
    private readonly clock: Clock,
  ) {
    const derive = (encryptionKey: Buffer): Buffer =>
      Buffer.from(hkdfSync('sha256', encryptionKey, '', `cadastre signed link: ${purpose}`, 32));
    this.derived = new Map(keys.all.map((key) => [key, derive(key)]));
  }

  /**
   * Returns a token of URL-safe characters for the subject. Its expiry is rounded up to a multiple of `stepMs`, so that
   * repeated calls return the same token, and responses that contain it stay equal.
   */
  sign(subject: string, lifeMs = LINK_LIFETIME_MS, stepMs = 1): string {
    const expires = Math.ceil((this.clock.now().getTime() + lifeMs) / stepMs) * stepMs;
    const payload = Buffer.from(JSON.stringify([subject, expires]));
    const mac = computeMac(this.derived.get(this.keys.writing) as Buffer, payload);
    return `${payload.toString('base64url')}.${mac.toString('base64url')}`;
  }

  /** Returns the subject of a token. Throws `forbidden` if the token is invalid or has expired. */
  subjectOf(token: string): string {
    const [payload = '', mac = '', ...rest] = token.split('.').map((part) => Buffer.from(part, 'base64url'));
    const isSignedWith = (key: Buffer): boolean => {
      const expected = computeMac(key, payload);
      return mac.length === expected.length && timingSafeEqual(Buffer.from(mac), expected);
    };
    if (rest.length > 0 || ![...this.derived.values()].some(isSignedWith)) throw forbidden('This link is not valid');
    // The signature is valid, so `sign` created this payload.
    const [subject, expires] = JSON.parse(payload.toString()) as [string, number];
    if (this.clock.now().getTime() >= expires) throw forbidden('This link has expired');
    return subject;
  }
}

const computeMac = (key: Buffer, payload: Buffer | string): Buffer =>
  createHmac('sha256', key).update(payload).digest();
