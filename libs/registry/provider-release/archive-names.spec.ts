import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  checkFilename,
  formatArchiveName,
  formatChecksumsName,
  formatManifestName,
  formatSignatureName,
  parseArchiveName,
  type ArchiveName,
} from './index.js';

const number = fc.nat({ max: 99 });
const preview = fc.option(fc.stringMatching(/^-[a-z][0-9a-z-]{0,6}(\.[1-9]\d?)?$/), { nil: '' });
const archive: fc.Arbitrary<ArchiveName> = fc.record({
  name: fc.stringMatching(/^[a-z0-9]{1,8}(-[a-z0-9]{1,8}){0,2}$/).filter((name) => !name.startsWith('terraform-')),
  version: fc.tuple(number, number, number, preview).map(([a, b, c, rest]) => `${a}.${b}.${c}${rest}`),
  os: fc.constantFrom('linux', 'darwin', 'windows', 'freebsd'),
  arch: fc.constantFrom('amd64', 'arm64', '386'),
});

describe('file names of a release', () => {
  it('contain the name and the version of the release', () => {
    const release = { name: 'google-beta', version: '1.0.0-rc.1' };
    expect([
      formatArchiveName({ ...release, os: 'linux', arch: 'amd64' }),
      formatChecksumsName(release),
      formatSignatureName(release),
      formatManifestName(release),
    ]).toEqual([
      'terraform-provider-google-beta_1.0.0-rc.1_linux_amd64.zip',
      'terraform-provider-google-beta_1.0.0-rc.1_SHA256SUMS',
      'terraform-provider-google-beta_1.0.0-rc.1_SHA256SUMS.sig',
      'terraform-provider-google-beta_1.0.0-rc.1_manifest.json',
    ]);
  });

  it('can be parsed into name, version and platform', () => {
    fc.assert(
      fc.property(archive, (its) => {
        const filename = formatArchiveName(its);
        checkFilename(filename);
        expect(parseArchiveName(filename)).toEqual(its);
      }),
    );
  });

  it.each([
    'terraform-provider-x_1.0.0_linux_amd64.tar.gz',
    'terraform-provider-x_1.0.0_linux.zip',
    'terraform-provider-x_1.0.0_linux_amd64_v1.zip',
    'terraform-provider-x_1.0.0_Linux_x86-64.zip',
    'provider-x_1.0.0_linux_amd64.zip',
    'dist/terraform-provider-x_1.0.0_linux_amd64.zip',
    '',
  ])('are rejected in another form: %j', (filename) => {
    expect(() => parseArchiveName(filename)).toThrow(
      'does not have the form terraform-provider-NAME_VERSION_OS_ARCH.zip',
    );
  });

  it('must contain a valid provider name and version', () => {
    expect(() => parseArchiveName('terraform-provider-X_1.0.0_linux_amd64.zip')).toThrow('Name may only contain');
    expect(() => parseArchiveName('terraform-provider-x_v1.0.0_linux_amd64.zip')).toThrow('Version is invalid');
  });
});
