import { randomBytes } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { EncryptionKeys } from '#platform/encryption';
import {
  parseEncryptedTextHeader,
  InstallationMac,
  isEncryptedText,
  PersonKey,
  getPlaceholder,
} from './encrypted-texts.js';

const MAC = new InstallationMac(new EncryptionKeys(Buffer.alloc(32, 1)));
const recentTexts = () => ({ encrypted: new Map<string, string>(), opened: new Map<string, string>() });
const RECENT = recentTexts();
const keyOf = (person: string, bytes = randomBytes(32), recent = RECENT): PersonKey =>
  new PersonKey(person, bytes, MAC, recent);

const kinds = fc.constantFrom('name' as const, 'detail' as const);
const key = keyOf('user-1');
const texts = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.string({ unit: 'grapheme' }),
  // A user could choose a name that looks like an encrypted text.
  kinds.chain((kind) => fc.string().map((text) => key.encrypt(kind, text))),
  fc.string().map((text) => `~sealed:n:user-1:${text}`),
);

describe('an encrypted text', () => {
  it('decrypts to the original, also in a process without a cache', () => {
    fc.assert(
      fc.property(texts, kinds, fc.uint8Array({ minLength: 32, maxLength: 32 }), (text, kind, bytes) => {
        const encrypted = keyOf('user-1', Buffer.from(bytes)).encrypt(kind, text);
        expect(isEncryptedText(encrypted)).toBe(true);
        expect(parseEncryptedTextHeader(encrypted)).toEqual({ kind, person: 'user-1' });
        expect(MAC.isOn(encrypted)).toBe(true);
        // Half of a surrogate pair cannot be stored, neither in UTF-8 nor by Postgres.
        const storable = Buffer.from(text).toString();
        const keyWithoutCache = keyOf('user-1', Buffer.from(bytes), recentTexts());
        expect(keyWithoutCache.open(encrypted)).toBe(storable);
        expect(keyWithoutCache.open(encrypted)).toBe(storable);
        expect(keyWithoutCache.encrypt(kind, text)).toBe(encrypted);
      }),
    );
  });

  it('reveals only the length of the original', () => {
    const encrypted = key.encrypt('name', 'zerlinda');
    expect(encrypted).not.toContain('zerlinda');
    expect(Buffer.from(encrypted.split(':').at(-1) ?? '', 'base64url').includes('zerlinda')).toBe(false);
    expect(key.encrypt('name', 'zerlindb').slice(-20)).not.toBe(encrypted.slice(-20));
    expect(key.encrypt('detail', 'zerlinda').slice(-20)).not.toBe(encrypted.slice(-20));
    expect(keyOf('user-1').encrypt('name', 'zerlinda')).not.toBe(encrypted);
  });

  it('may belong to a person whose id contains colons, as ids of other services may', () => {
    const theirs = keyOf('idp:ada:1');
    const encrypted = theirs.encrypt('name', 'ada');
    expect(parseEncryptedTextHeader(encrypted)).toEqual({ kind: 'name', person: 'idp:ada:1' });
    expect(theirs.open(encrypted)).toBe('ada');
  });

  it('cannot be decrypted with another key, for another person, or as another kind', () => {
    const encrypted = key.encrypt('name', 'ada');
    expect(keyOf('user-1').open(encrypted)).toBeUndefined();
    expect(key.open(encrypted.replace('user-1', 'user-2'))).toBeUndefined();
    expect(key.open(encrypted.replace('sealed:n', 'sealed:d'))).toBeUndefined();
    expect(MAC.isOn(encrypted.replace('user-1', 'user-2'))).toBe(false);
    expect(new InstallationMac(new EncryptionKeys(Buffer.alloc(32, 2))).isOn(encrypted)).toBe(false);
  });

  it('is not recognized if a text only looks like one', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        for (const like of [text, `~sealed:${text}`, `~sealed:n:user-1:${text}`]) {
          expect(MAC.isOn(like)).toBe(false);
          expect(key.open(like)).toBeUndefined();
        }
      }),
    );
  });

  it('is cached unless it is long, with a limit for all people together', () => {
    const recent = recentTexts();
    const people = Array.from({ length: 3 }, (_, n) => keyOf(`user-${n}`, undefined, recent));
    const [first] = people as [PersonKey];
    expect(first.open(first.encrypt('detail', 'x'.repeat(257)))).toBe('x'.repeat(257));
    expect([recent.encrypted.size, recent.opened.size]).toEqual([0, 0]);
    for (const person of people) {
      for (let n = 0; n < 4_000; n += 1) person.open(person.encrypt('detail', `program/${n}`));
    }
    expect(recent.encrypted.size).toBeLessThanOrEqual(10_000);
    expect(recent.opened.size).toBeLessThanOrEqual(10_000);
    expect(first.open(first.encrypt('name', 'ada'))).toBe('ada');
  });

  it('is replaced by the id for a name, and by null for a detail, after the person was forgotten', () => {
    expect(getPlaceholder({ person: 'user-1', kind: 'name' })).toBe('user-1');
    expect(getPlaceholder({ person: 'user-1', kind: 'detail' })).toBeNull();
  });
});
