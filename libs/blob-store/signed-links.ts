import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';
import { forbidden, type Clock } from '#kernel';

/** Clients upload minutes after they get the link. Links of a provider version live for about a day (clients.md §5). */
export const LINK_LIFETIME_MS = 24 * 60 * 60 * 1000;

/**
 * Signs and checks tokens in URL paths that grant a permission: clients upload files, and the CLI downloads providers,
 * without an API token (clients.md §4, §5). A token contains its subject and its expiry, signed with HMAC-SHA256.
 *
 * The key is derived for one purpose, so a token of one part of Cadastre is invalid for another part.
 */
export class SignedLinks {
  private readonly key: Buffer;

  constructor(
    encryptionKey: Buffer,
    purpose: string,
    private readonly clock: Clock,
  ) {
    this.key = Buffer.from(hkdfSync('sha256', encryptionKey, '', `cadastre signed link: ${purpose}`, 32));
  }

  /**
   * Returns a token of URL-safe characters for the subject. Its expiry is rounded up to a multiple of `stepMs`, so that
   * repeated calls return the same token, and responses that contain it stay equal.
   */
  sign(subject: string, lifeMs = LINK_LIFETIME_MS, stepMs = 1): string {
    const expires = Math.ceil((this.clock.now().getTime() + lifeMs) / stepMs) * stepMs;
    const payload = Buffer.from(JSON.stringify([subject, expires]));
    return `${payload.toString('base64url')}.${this.mac(payload).toString('base64url')}`;
  }

  /** Returns the subject of a token. Throws `forbidden` if the token is invalid or has expired. */
  subjectOf(token: string): string {
    const [payload = '', mac = '', ...rest] = token.split('.').map((part) => Buffer.from(part, 'base64url'));
    const expected = this.mac(payload);
    if (rest.length > 0 || mac.length !== expected.length || !timingSafeEqual(Buffer.from(mac), expected)) {
      throw forbidden('This link is not valid');
    }
    // The signature is valid, so `sign` created this payload.
    const [subject, expires] = JSON.parse(payload.toString()) as [string, number];
    if (this.clock.now().getTime() >= expires) throw forbidden('This link has expired');
    return subject;
  }

  private mac(payload: Buffer | string): Buffer {
    return createHmac('sha256', this.key).update(payload).digest();
  }
}
