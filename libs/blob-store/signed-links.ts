import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';
import { forbidden, type Clock } from '#kernel';

/** Clients upload minutes after they are told where to; the link of a version lives about a day (clients.md §5). */
export const LINK_LIFETIME_MS = 24 * 60 * 60 * 1000;

/**
 * Path tokens that stand for a permission: clients upload, and the CLI downloads providers, without a token
 * (clients.md §4, §5). A token holds what it is for and until when, signed with HMAC-SHA256.
 *
 * The key is derived for one purpose: what one part of Cadastre has signed means nothing to another.
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
   * A token of URL-safe characters for this subject. It lives a little longer where its end is put off to the next multiple
   * of `stepMs`: until then it is the same one each time, and so is the answer that it is part of.
   */
  sign(subject: string, lifeMs = LINK_LIFETIME_MS, stepMs = 1): string {
    const expires = Math.ceil((this.clock.now().getTime() + lifeMs) / stepMs) * stepMs;
    const payload = Buffer.from(JSON.stringify([subject, expires]));
    return `${payload.toString('base64url')}.${this.mac(payload).toString('base64url')}`;
  }

  /** The subject of a token of ours; throws `forbidden` for any other, and for one that has expired. */
  subjectOf(token: string): string {
    const [payload = '', mac = '', ...rest] = token.split('.').map((part) => Buffer.from(part, 'base64url'));
    const expected = this.mac(payload);
    if (rest.length > 0 || mac.length !== expected.length || !timingSafeEqual(Buffer.from(mac), expected)) {
      throw forbidden('This link is not valid');
    }
    // Signed by us, so it is what `sign` made.
    const [subject, expires] = JSON.parse(payload.toString()) as [string, number];
    if (this.clock.now().getTime() >= expires) throw forbidden('This link has expired');
    return subject;
  }

  private mac(payload: Buffer | string): Buffer {
    return createHmac('sha256', this.key).update(payload).digest();
  }
}
