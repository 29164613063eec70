import { describe, expect, it } from '@jest/globals';
import { PasswordHasher } from './password-hasher.service.js';

describe('the hasher', () => {
  it('uses argon2id with the parameters of OWASP', async () => {
    expect(await new PasswordHasher().hash('four random words')).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
  });

  it('recognizes the password, and no other one', async () => {
    const hasher = new PasswordHasher();
    const stored = await hasher.hash('four random words');
    expect(await hasher.verify('four random words', stored)).toBe(true);
    expect(await hasher.verify('four random wordS', stored)).toBe(false);
    expect(await hasher.verify('no password has this hash', null)).toBe(false);
  });

  it('refuses work if too many wait, and works again afterwards', async () => {
    const hasher = new PasswordHasher();
    const flood = await Promise.allSettled(Array.from({ length: 60 }, () => hasher.hash('four random words')));
    expect(flood.filter(({ status }) => status === 'fulfilled')).toHaveLength(42);
    expect(await hasher.hash('four random words')).toMatch(/^\$argon2id/);
  });
});
