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

describe('checking a provider name', () => {
  it.each(['aws', 'google-beta', '0x', 'a', 'a-1-b', 'a'.repeat(64)])('accepts %s', (name) => {
    expect(() => checkProviderName(name)).not.toThrow();
    expect(() => checkSourceName(name)).not.toThrow();
  });

  it('accepts an underscore in the registry, but not when publishing, because clients cannot install it', () => {
    expect(() => checkProviderName('google_beta')).not.toThrow();
    expect(() => checkSourceName('google_beta')).toThrow('Name may only contain lowercase letters and numbers, and');
  });

  it.each(['AWS', 'a--b', '-a', 'a-', 'a_-b', 'a.b', 'é', 'a b', 'a/b', 'a\n'])('rejects %j', (name) => {
    expect(() => checkProviderName(name)).toThrow('Name may only contain lowercase letters and numbers');
  });

  it('rejects an empty or too long name', () => {
    expect(() => checkProviderName('')).toThrow("Name can't be blank");
    expect(() => checkProviderName('a'.repeat(65))).toThrow('Name is too long (at most 64 characters)');
  });

  it('rejects a name that begins with terraform-', () => {
    for (const check of [checkProviderName, checkSourceName])
      expect(() => check('terraform-provider-aws')).toThrow('Name must not begin with terraform-');
  });
});

describe('checking a version', () => {
  it.each(['1.2.3', '0.0.1', '1.2.3-beta.1', '1.2.3-rc1', '1.2.3+linux', '1.2.3-a.b+c.d'])('accepts %s', (version) => {
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
  ])('rejects %j', (version) => {
    expect(() => checkProviderVersion(version)).toThrow(
      'Version is invalid: it must be a semantic version such as 1.2.3',
    );
  });

  it('ignores build metadata in comparisons', () => {
    expect(stripBuildMetadata('1.2.3-rc.1+linux')).toBe('1.2.3-rc.1');
    expect(stripBuildMetadata('1.2.3-rc.1')).toBe('1.2.3-rc.1');
    expect(stripBuildMetadata('1.2.3')).not.toBe(stripBuildMetadata('1.2.3-rc.1'));
  });

  it('accepts a subset of the versions that semver accepts, each in one form only', () => {
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

describe('checking a platform', () => {
  it('accepts the names that Go uses', () => {
    expect(() => checkOs('linux')).not.toThrow();
    expect(() => checkArch('386')).not.toThrow();
  });

  it.each(['Linux', 'li nux', '../linux', '-linux', 'a'.repeat(65)])('rejects the operating system %j', (os) => {
    expect(() => checkOs(os)).toThrow(refusalAt('os'));
  });

  it.each(['', 'AMD64', 'amd/64'])('rejects the processor %j', (arch) => {
    expect(() => checkArch(arch)).toThrow(refusalAt('arch'));
  });

  it.each(['terraform-provider-x_1.0.0_linux_amd64.zip', 'x', '_', 'a+b.zip', 'a'.repeat(255)])(
    'accepts the file name %j',
    (filename) => {
      expect(() => checkFilename(filename)).not.toThrow();
    },
  );

  it.each(['', '.zip', '-x.zip', '..', 'a/b.zip', 'a\\b.zip', 'a b.zip', 'a\u0000.zip', 'ä.zip', 'a'.repeat(256)])(
    'rejects the file name %j',
    (filename) => {
      expect(() => checkFilename(filename)).toThrow(refusalAt('filename'));
    },
  );

  it('stores a checksum in lower case, and rejects texts that cannot be declared', () => {
    expect(normalizeShasum('AB'.repeat(32))).toBe('ab'.repeat(32));
    for (const wrong of ['', 'a b', 'g'.repeat(256), `${'a'.repeat(64)}\n`])
      expect(() => checkShasum(wrong)).toThrow(refusalAt('shasum'));
  });

  it('stores a declared text that is no checksum unchanged', () => {
    for (const text of ['Shasum', 'G'.repeat(64)]) {
      expect(() => checkShasum(text)).not.toThrow();
      expect(normalizeShasum(text)).toBe(text);
    }
  });
});
