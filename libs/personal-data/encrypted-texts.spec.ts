import { randomBytes } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  parseEncryptedTextHeader,
  InstallationMac,
  isEncryptedText,
  PersonKey,
  getPlaceholder,
} from './encrypted-texts.js';

const HOUSE = new InstallationMac(Buffer.alloc(32, 1));
const recentTexts = () => ({ sealed: new Map<string, string>(), opened: new Map<string, string>() });
const RECENT = recentTexts();
const keyOf = (person: string, bytes = randomBytes(32), recent = RECENT): PersonKey =>
  new PersonKey(person, bytes, HOUSE, recent);

const kinds = fc.constantFrom('name' as const, 'detail' as const);
const key = keyOf('user-1');
const texts = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.string({ unit: 'grapheme' }),
  // As if somebody were called what we call their name.
  kinds.chain((kind) => fc.string().map((text) => key.seal(kind, text))),
  fc.string().map((text) => `~sealed:n:user-1:${text}`),
);

describe('a sealed text', () => {
  it('opens to what it was, whatever that is, and again to a process that remembers nothing', () => {
    fc.assert(
      fc.property(texts, kinds, fc.uint8Array({ minLength: 32, maxLength: 32 }), (text, kind, bytes) => {
        const sealed = keyOf('user-1', Buffer.from(bytes)).seal(kind, text);
        expect(isEncryptedText(sealed)).toBe(true);
        expect(parseEncryptedTextHeader(sealed)).toEqual({ kind, person: 'user-1' });
        expect(HOUSE.isOn(sealed)).toBe(true);
        // What is no Unicode cannot be kept as UTF-8, nor by Postgres.
        const kept = Buffer.from(text).toString();
        const again = keyOf('user-1', Buffer.from(bytes), recentTexts());
        expect(again.open(sealed)).toBe(kept);
        expect(again.open(sealed)).toBe(kept);
        expect(again.seal(kind, text)).toBe(sealed);
      }),
    );
  });

  it('says nothing of what it was but how long', () => {
    const sealed = key.seal('name', 'zerlinda');
    expect(sealed).not.toContain('zerlinda');
    expect(Buffer.from(sealed.split(':').at(-1) ?? '', 'base64url').includes('zerlinda')).toBe(false);
    expect(key.seal('name', 'zerlindb').slice(-20)).not.toBe(sealed.slice(-20));
    expect(key.seal('detail', 'zerlinda').slice(-20)).not.toBe(sealed.slice(-20));
    expect(keyOf('user-1').seal('name', 'zerlinda')).not.toBe(sealed);
  });

  it('is that of a person whose id has colons in it, as those of other services may', () => {
    const theirs = keyOf('idp:ada:1');
    const sealed = theirs.seal('name', 'ada');
    expect(parseEncryptedTextHeader(sealed)).toEqual({ kind: 'name', person: 'idp:ada:1' });
    expect(theirs.open(sealed)).toBe('ada');
  });

  it('does not open with another key, for another person, or as another kind', () => {
    const sealed = key.seal('name', 'ada');
    expect(keyOf('user-1').open(sealed)).toBeUndefined();
    expect(key.open(sealed.replace('user-1', 'user-2'))).toBeUndefined();
    expect(key.open(sealed.replace('sealed:n', 'sealed:d'))).toBeUndefined();
    expect(HOUSE.isOn(sealed.replace('user-1', 'user-2'))).toBe(false);
    expect(new InstallationMac(Buffer.alloc(32, 2)).isOn(sealed)).toBe(false);
  });

  it('is not what only looks like one', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        for (const like of [text, `~sealed:${text}`, `~sealed:n:user-1:${text}`]) {
          expect(HOUSE.isOn(like)).toBe(false);
          expect(key.open(like)).toBeUndefined();
        }
      }),
    );
  });

  it('is remembered for who asks again, unless it is long, and together with no more than so many of all people', () => {
    const recent = recentTexts();
    const people = Array.from({ length: 3 }, (_, n) => keyOf(`user-${n}`, undefined, recent));
    const [first] = people as [PersonKey];
    expect(first.open(first.seal('detail', 'x'.repeat(257)))).toBe('x'.repeat(257));
    expect([recent.sealed.size, recent.opened.size]).toEqual([0, 0]);
    for (const person of people) {
      for (let n = 0; n < 4_000; n += 1) person.open(person.seal('detail', `program/${n}`));
    }
    expect(recent.sealed.size).toBeLessThanOrEqual(10_000);
    expect(recent.opened.size).toBeLessThanOrEqual(10_000);
    expect(first.open(first.seal('name', 'ada'))).toBe('ada');
  });

  it('leaves a name an id, and a detail nothing', () => {
    expect(getPlaceholder({ person: 'user-1', kind: 'name' })).toBe('user-1');
    expect(getPlaceholder({ person: 'user-1', kind: 'detail' })).toBeNull();
  });
});
