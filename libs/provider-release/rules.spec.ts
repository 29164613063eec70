import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { SemVer } from 'semver';
import {
  checkArch,
  checkFilename,
  checkOs,
  checkProviderName,
  checkShasum,
  checkSourceName,
  checkProviderVersion,
  normalizeShasum,
  stripBuildMetadata,
} from './index.js';

const refusalAt = (attribute: string): object =>
  expect.objectContaining({ problems: [expect.objectContaining({ pointer: `/data/attributes/${attribute}` })] });

describe('the name of a provider', () => {
  it.each(['aws', 'google-beta', '0x', 'a', 'a-1-b', 'a'.repeat(64)])('may be %s', (name) => {
    expect(() => checkProviderName(name)).not.toThrow();
    expect(() => checkSourceName(name)).not.toThrow();
  });

  it('may have an underscore, which nobody can install it by', () => {
    expect(() => checkProviderName('google_beta')).not.toThrow();
    expect(() => checkSourceName('google_beta')).toThrow('Name may only contain lowercase letters and numbers, and');
  });

  it.each(['AWS', 'a--b', '-a', 'a-', 'a_-b', 'a.b', 'é', 'a b', 'a/b', 'a\n'])('must not be %j', (name) => {
    expect(() => checkProviderName(name)).toThrow('Name may only contain lowercase letters and numbers');
  });

  it('must be there, and not be too long', () => {
    expect(() => checkProviderName('')).toThrow("Name can't be blank");
    expect(() => checkProviderName('a'.repeat(65))).toThrow('Name is too long (at most 64 characters)');
  });

  it('must not repeat what it is a provider for', () => {
    for (const check of [checkProviderName, checkSourceName])
      expect(() => check('terraform-provider-aws')).toThrow('Name must not begin with terraform-');
  });
});

describe('a version', () => {
  it.each(['1.2.3', '0.0.1', '1.2.3-beta.1', '1.2.3-rc1', '1.2.3+linux', '1.2.3-a.b+c.d'])('may be %s', (version) => {
    expect(() => checkProviderVersion(version)).not.toThrow();
  });

  it.each([
    '',
    'v1.2.3',
    '=1.2.3',
    ' 1.2.3',
    '1.2.3 ',
    '1.2',
    '1',
    '01.2.3',
    '1.2.3-',
    '1.2.3-01',
    '1.2.3+',
    '1.2.3\n',
  ])('must not be %j', (version) => {
    expect(() => checkProviderVersion(version)).toThrow(
      'Version is invalid: it must be a semantic version such as 1.2.3',
    );
  });

  it('is the same as one with other build metadata', () => {
    expect(stripBuildMetadata('1.2.3-rc.1+linux')).toBe('1.2.3-rc.1');
    expect(stripBuildMetadata('1.2.3-rc.1')).toBe('1.2.3-rc.1');
    expect(stripBuildMetadata('1.2.3')).not.toBe(stripBuildMetadata('1.2.3-rc.1'));
  });

  it('is what the library takes for one, in one form only', () => {
    fc.assert(
      fc.property(
        fc.stringMatching(/^[v= ]?\d{1,3}\.\d{1,3}\.\d{1,3}(-[0-9a-z.-]{1,8})?(\+[0-9a-z.]{1,8})?$/),
        (text) => {
          try {
            checkProviderVersion(text);
          } catch {
            return;
          }
          expect(new SemVer(text).version).toBe(stripBuildMetadata(text));
          expect(text.startsWith(stripBuildMetadata(text))).toBe(true);
        },
      ),
    );
  });
});

describe('a platform', () => {
  it('is called as Go calls it', () => {
    expect(() => checkOs('linux')).not.toThrow();
    expect(() => checkArch('386')).not.toThrow();
  });

  it.each(['Linux', 'li nux', '../linux', '-linux', 'a'.repeat(65)])('must not be for the system %j', (os) => {
    expect(() => checkOs(os)).toThrow(refusalAt('os'));
  });

  it.each(['', 'AMD64', 'amd/64'])('must not be for the processor %j', (arch) => {
    expect(() => checkArch(arch)).toThrow(refusalAt('arch'));
  });

  it.each(['terraform-provider-x_1.0.0_linux_amd64.zip', 'x', '_', 'a+b.zip', 'a'.repeat(255)])(
    'may have its zip in %j',
    (filename) => {
      expect(() => checkFilename(filename)).not.toThrow();
    },
  );

  it.each(['', '.zip', '-x.zip', '..', 'a/b.zip', 'a\\b.zip', 'a b.zip', 'a\u0000.zip', 'ä.zip', 'a'.repeat(256)])(
    'must not have its zip in %j',
    (filename) => {
      expect(() => checkFilename(filename)).toThrow(refusalAt('filename'));
    },
  );

  it('has a checksum, which is kept in lower case', () => {
    expect(normalizeShasum('AB'.repeat(32))).toBe('ab'.repeat(32));
    for (const wrong of ['', 'a b', 'g'.repeat(256), `${'a'.repeat(64)}\n`])
      expect(() => checkShasum(wrong)).toThrow(refusalAt('shasum'));
  });

  it('may declare what can be the checksum of nothing, and has it as it came', () => {
    for (const text of ['Shasum', 'G'.repeat(64)]) {
      expect(() => checkShasum(text)).not.toThrow();
      expect(normalizeShasum(text)).toBe(text);
    }
  });
});
