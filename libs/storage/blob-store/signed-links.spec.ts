import { describe, expect, it } from '@jest/globals';
import { FixedClock } from '../../../test/support/clocks.js';
import { EncryptionKeys } from '#platform/encryption';
import { Refusal } from '#platform/kernel';
import { LINK_LIFETIME_MS, SignedLinks } from './index.js';

const KEY = new EncryptionKeys(Buffer.alloc(32, 3));
const HOUR = 60 * 60 * 1000;

const refusal = (work: () => unknown): Refusal => {
  try {
    work();
  } catch (error) {
    if (error instanceof Refusal) return error;
    throw error;
  }
  throw new Error('it was not refused');
};

describe('a signed link', () => {
  it('returns its subject, whatever characters that contains, and is a valid path segment', () => {
    const links = new SignedLinks(KEY, 'test', new FixedClock());
    const token = links.sign('sv-1/state ü "quoted" /..');
    expect(token).toMatch(/^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+$/);
    expect(links.subjectOf(token)).toBe('sv-1/state ü "quoted" /..');
  });

  it('expires after exactly one day', () => {
    const clock = new FixedClock();
    const links = new SignedLinks(KEY, 'test', clock);
    const token = links.sign('subject');
    clock.pass({ ms: LINK_LIFETIME_MS - 1 });
    expect(links.subjectOf(token)).toBe('subject');
    clock.pass({ ms: 1 });
    expect(refusal(() => links.subjectOf(token))).toMatchObject({
      kind: 'forbidden',
      message: 'This link has expired',
    });
  });

  it('can stay the same for an hour, and then lives up to an hour longer', () => {
    const clock = new FixedClock();
    const links = new SignedLinks(KEY, 'test', clock);
    const sign = (): string => links.sign('subject', LINK_LIFETIME_MS, HOUR);
    const token = sign();
    clock.pass({ ms: 1 });
    const next = sign();
    expect(next).not.toBe(token);
    clock.pass({ ms: HOUR - 1 });
    expect(sign()).toBe(next);
    clock.pass({ ms: LINK_LIFETIME_MS - 1 });
    expect(links.subjectOf(next)).toBe('subject');
    clock.pass({ ms: 1 });
    expect(refusal(() => links.subjectOf(next)).message).toBe('This link has expired');
  });

  it.each(['', '.', 'a.b', 'nothing', 'a.b.c', '%', 'ü.ü', '..'])('is refused if the token is %j', (token) => {
    const links = new SignedLinks(KEY, 'test', new FixedClock());
    expect(refusal(() => links.subjectOf(token))).toMatchObject({
      kind: 'forbidden',
      message: 'This link is not valid',
    });
  });

  it('is refused if it was changed, cut, extended, or made with another key or for another purpose', () => {
    const clock = new FixedClock();
    const links = new SignedLinks(KEY, 'test', clock);
    const [payload = '', mac = ''] = links.sign('sv-1').split('.');
    const otherPayload = Buffer.from(JSON.stringify(['sv-2', clock.time + 1_000_000])).toString('base64url');
    const forged = [
      `${otherPayload}.${mac}`,
      `${payload}.${mac.slice(0, -2)}`,
      `${payload}.${mac}AA`,
      `${payload}.${mac}.${mac}`,
      `${payload}.`,
      new SignedLinks(new EncryptionKeys(Buffer.alloc(32, 4)), 'test', clock).sign('sv-1'),
      new SignedLinks(KEY, 'another purpose', clock).sign('sv-1'),
    ];
    for (const token of forged) expect(refusal(() => links.subjectOf(token)).kind).toBe('forbidden');
  });

  it('is valid with the current and with the previous encryption key', () => {
    const clock = new FixedClock();
    const [older, newer] = [Buffer.alloc(32, 3), Buffer.alloc(32, 4)];
    const before = new SignedLinks(new EncryptionKeys(older), 'test', clock);
    const keys = new EncryptionKeys(newer, older);
    const rotating = new SignedLinks(keys, 'test', clock);
    expect(rotating.subjectOf(before.sign('sv-1'))).toBe('sv-1');
    keys.adopt({ writing: older, macKey: null });
    expect(before.subjectOf(rotating.sign('sv-1'))).toBe('sv-1');
    keys.adopt({ writing: newer, macKey: null });
    const after = new SignedLinks(new EncryptionKeys(newer), 'test', clock);
    expect(after.subjectOf(rotating.sign('sv-1'))).toBe('sv-1');
    expect(refusal(() => after.subjectOf(before.sign('sv-1'))).kind).toBe('forbidden');
  });
});
