import { describe, expect, it } from '@jest/globals';
import { decide } from '#platform/kernel';
import { specify } from '#platform/kernel/spec';
import type { Protocol } from '#registry/provider-release/rules';
import { MAX_PLATFORMS } from '../platforms/registry-provider-platform.js';
import {
  registryProviderVersion,
  MAX_VERSIONS,
  type RegistryProviderVersionCommand,
  type RegistryProviderVersionEvent,
} from './registry-provider-version.js';

const { given } = specify(registryProviderVersion);

const OF = { name: 'aws', version: '1.2.0' };
const KEY = '34365D9472D7468F';
const SUMS = { size: 210, sha256: 'e'.repeat(64) };
const SIG = { size: 566, sha256: 'd'.repeat(64) };

const linux = {
  platform: 'provpltfrm-linux',
  os: 'linux',
  arch: 'amd64',
  filename: 'terraform-provider-aws_1.2.0_linux_amd64.zip',
  shasum: 'a'.repeat(64),
};
const darwin = {
  platform: 'provpltfrm-darwin',
  os: 'darwin',
  arch: 'arm64',
  filename: 'terraform-provider-aws_1.2.0_darwin_arm64.zip',
  shasum: 'b'.repeat(64),
};
const listed = { [linux.filename]: linux.shasum, [darwin.filename]: darwin.shasum };

const created: RegistryProviderVersionEvent = {
  type: 'RegistryProviderVersionCreated',
  data: { ...OF, provider: 'prov-1', keyId: KEY, protocols: ['5.0'] },
};
const shasums: RegistryProviderVersionEvent = {
  type: 'RegistryProviderShasumsUploaded',
  data: { ...OF, ...SUMS, listed },
};
const signature: RegistryProviderVersionEvent = {
  type: 'RegistryProviderSignatureUploaded',
  data: { ...OF, ...SIG },
};
const verified: RegistryProviderVersionEvent = {
  type: 'RegistryProviderSignatureVerified',
  data: { ...OF, keyId: KEY, sha256: SIG.sha256 },
};
type Facts = typeof linux;
const platformCreated = (facts: Facts): RegistryProviderVersionEvent => ({
  type: 'RegistryProviderPlatformCreated',
  data: { ...OF, ...facts },
});
const binary = (facts: Facts): RegistryProviderVersionEvent => ({
  type: 'RegistryProviderBinaryUploaded',
  data: { ...OF, ...facts, size: 7 },
});
const platformDeleted = (facts: Facts): RegistryProviderVersionEvent => ({
  type: 'RegistryProviderPlatformDeleted',
  data: { ...OF, ...facts },
});
const published = (...platforms: readonly string[]): RegistryProviderVersionEvent => ({
  type: 'RegistryProviderVersionPublished',
  data: { ...OF, protocols: ['5.0'], platforms },
});
const deleted: RegistryProviderVersionEvent = { type: 'RegistryProviderVersionDeleted', data: OF };

const create = (
  changes: { version?: string; keyId?: string; protocols?: readonly Protocol[] | null; siblings?: number } = {},
) =>
  ({
    type: 'CreateVersion',
    data: { ...OF, provider: 'prov-1', keyId: KEY, protocols: ['5.0'], siblings: 0, ...changes },
  }) as const;
const acceptShasums = (flaw: string | null = null, sums: Readonly<Record<string, string>> = listed) =>
  ({ type: 'AcceptShasums', data: { ...SUMS, listed: sums, flaw } }) as const;
const acceptSignature = (flaw: string | null = null, file = SIG) =>
  ({ type: 'AcceptSignature', data: { ...file, flaw } }) as const;
const createPlatform = (facts: Facts) => ({ type: 'CreatePlatform', data: facts }) as const;
const acceptBinary = ({ platform }: Facts, flaw: string | null = null) =>
  ({ type: 'AcceptBinary', data: { platform, size: 7, flaw } }) as const;
const deletePlatform = ({ platform }: Facts) => ({ type: 'DeletePlatform', data: { platform } }) as const;
const deleteVersion = { type: 'DeleteVersion', data: {} } as const;

describe('decisions about a version of a provider', () => {
  it('reject a version if the provider already has 10,000', () => {
    given()
      .when(create({ siblings: MAX_VERSIONS - 1 }))
      .yields(created);
    given()
      .when(create({ siblings: MAX_VERSIONS }))
      .refuses('unprocessable', 'at most 10000 versions', '/data/attributes/version');
  });

  it('create a version only once, and sort its protocols without duplicates', () => {
    given().when(create()).yields(created);
    given()
      .when(create({ protocols: ['6.0', '4.0', '6.0'] }))
      .yields({
        type: 'RegistryProviderVersionCreated',
        data: { ...OF, provider: 'prov-1', keyId: KEY, protocols: ['4.0', '6.0'] },
      });
    given(created).when(create()).refuses('conflict', 'exists already');
    given(created, deleted).when(create()).refuses('conflict', 'exists already');
  });

  it('default to protocol 5.0', () => {
    given()
      .when(create({ protocols: null }))
      .yields(created);
    given()
      .when(create({ protocols: [] }))
      .refuses('unprocessable', "Protocols can't be blank", '/data/attributes/protocols');
  });

  it.each(['1.2.3', '0.0.1', '1.0.0-beta.1', '2.0.0-rc1+build.7', '1.0.0+a'])('accept the version %j', (version) => {
    expect(decide(registryProviderVersion, create({ version }), { status: 'absent' })).toMatchObject([
      { data: { version } },
    ]);
  });

  it.each(['', 'v1.0.0', '1.0', '01.0.0', ' 1.0.0', '1.0.0 ', '=1.0.0', '1.0.0-01', '1.0.0-', 'latest', '1.0.0/..'])(
    'reject the version %j',
    (version) => {
      given()
        .when(create({ version }))
        .refuses('unprocessable', /^Version is invalid/, '/data/attributes/version');
    },
  );

  it('accept any key id, but not an empty or too long one', () => {
    given()
      .when(create({ keyId: ' ' }))
      .refuses('unprocessable', "Key id can't be blank", '/data/attributes/key-id');
    given()
      .when(create({ keyId: 'x'.repeat(256) }))
      .refuses('unprocessable', /^Key id is too long/, '/data/attributes/key-id');
  });

  it('delete a version with an event for each of its platforms', () => {
    given(created).when(deleteVersion).yields(deleted);
    given(created, platformCreated(linux), platformCreated(darwin), binary(darwin))
      .when(deleteVersion)
      .yields(platformDeleted(linux), platformDeleted(darwin), deleted);
  });

  it.each<RegistryProviderVersionCommand>([
    acceptShasums(),
    acceptSignature(),
    createPlatform(linux),
    acceptBinary(linux),
    deletePlatform(linux),
    deleteVersion,
  ])('reject $type before the version is created and after it is deleted', (command) => {
    given().when(command).refuses('not-found', 'Not found');
    given(created, platformCreated(linux), platformDeleted(linux), deleted)
      .when(command)
      .refuses('not-found', 'Not found');
  });
});

describe('decisions about a platform', () => {
  it('create a platform with its checksum in lower case', () => {
    given(created)
      .when(createPlatform({ ...linux, shasum: 'A'.repeat(64) }))
      .yields(platformCreated(linux));
  });

  it('refuse a platform of a version that has 200 of them', () => {
    const platforms = Array.from({ length: MAX_PLATFORMS }, (_, n) => ({
      ...linux,
      platform: `provpltfrm-${n}`,
      arch: `a${n}`,
      filename: `${n}.zip`,
    }));
    const [first = linux] = platforms;
    given(created, ...platforms.map(platformCreated))
      .when(createPlatform(linux))
      .refuses('unprocessable', 'A version has at most 200 platforms');
    given(created, ...platforms.map(platformCreated), platformDeleted(first))
      .when(createPlatform(linux))
      .yields(platformCreated(linux));
  });

  it('accept one platform for each os and arch, and one for each file name', () => {
    given(created, platformCreated(linux))
      .when(createPlatform({ ...linux, filename: 'another.zip' }))
      .refuses('unprocessable', 'Platform linux_amd64 exists already', '/data/attributes/os');
    given(created, platformCreated(linux))
      .when(createPlatform({ ...linux, arch: 'arm64' }))
      .refuses('unprocessable', 'Filename has already been taken', '/data/attributes/filename');
    given(created, platformCreated(linux), platformDeleted(linux))
      .when(createPlatform(linux))
      .yields(platformCreated(linux));
  });

  it.each([
    [{ os: '' }, "Os can't be blank", 'os'],
    [{ os: 'Linux' }, /^Os may only contain/, 'os'],
    [{ os: 'linux/..' }, /^Os may only contain/, 'os'],
    [{ arch: ' ' }, "Arch can't be blank", 'arch'],
    [{ arch: 'x'.repeat(65) }, /^Arch is too long/, 'arch'],
    [{ filename: '' }, "Filename can't be blank", 'filename'],
    [{ filename: '../registry/aws.zip' }, /^Filename may only contain/, 'filename'],
    [{ filename: 'a\\b.zip' }, /^Filename may only contain/, 'filename'],
    [{ filename: '..' }, /^Filename must not begin with a dot/, 'filename'],
    [{ filename: '-rf.zip' }, /^Filename must not begin/, 'filename'],
    [{ filename: 'aws\u0000.zip' }, /^Filename may only contain/, 'filename'],
    [{ filename: 'äws.zip' }, /^Filename may only contain/, 'filename'],
    [{ filename: 'aws .zip' }, /^Filename may only contain/, 'filename'],
    [{ filename: 'x'.repeat(256) }, /^Filename is too long/, 'filename'],
    [{ shasum: '' }, "Shasum can't be blank", 'shasum'],
    [{ shasum: 'a b' }, /^Shasum may only contain/, 'shasum'],
    [{ shasum: 'g'.repeat(256) }, /^Shasum is too long/, 'shasum'],
  ])('reject the attributes %j', (changes, detail, attribute) => {
    given(created)
      .when(createPlatform({ ...linux, ...changes }))
      .refuses('unprocessable', detail, `/data/attributes/${attribute}`);
  });

  it('reject a platform that SHA256SUMS does not list with the same checksum', () => {
    given(created, shasums).when(createPlatform(linux)).yields(platformCreated(linux));
    given(created, shasums)
      .when(createPlatform({ ...linux, filename: 'other.zip' }))
      .refuses('unprocessable', 'SHA256SUMS does not list other.zip', '/data/attributes/filename');
    given(created, shasums)
      .when(createPlatform({ ...linux, filename: 'constructor' }))
      .refuses('unprocessable', 'SHA256SUMS does not list constructor');
    given(created, shasums)
      .when(createPlatform({ ...linux, shasum: 'c'.repeat(64) }))
      .refuses(
        'unprocessable',
        `SHA256SUMS lists ${linux.filename} with checksum ${linux.shasum}, its platform has ${'c'.repeat(64)}`,
        '/data/attributes/shasum',
      );
  });

  it('accept its zip only once', () => {
    given(created, platformCreated(linux)).when(acceptBinary(linux)).yields(binary(linux));
    given(created, platformCreated(linux), binary(linux))
      .when(acceptBinary(linux))
      .refuses('conflict', `${linux.filename} has been uploaded already`);
    given(created, platformCreated(linux)).when(acceptBinary(darwin)).refuses('not-found', 'Not found');
  });

  it('delete a platform', () => {
    given(created, platformCreated(linux)).when(deletePlatform(linux)).yields(platformDeleted(linux));
    given(created).when(deletePlatform(linux)).refuses('not-found', 'Not found');
  });
});

describe('decisions about SHA256SUMS and its signature', () => {
  it('accept each file once in either order, and verify the signature with the second file', () => {
    given(created).when(acceptShasums()).yields(shasums);
    given(created, shasums).when(acceptSignature()).yields(signature, verified);
    given(created).when(acceptSignature()).yields(signature);
    given(created, signature).when(acceptShasums()).yields(shasums, verified);
    given(created, shasums).when(acceptShasums()).refuses('conflict', 'SHA256SUMS has been uploaded already');
    given(created, shasums, signature, verified)
      .when(acceptSignature())
      .refuses('conflict', 'The signature has been uploaded already');
  });

  it('require that SHA256SUMS lists every existing platform with its checksum', () => {
    given(created, platformCreated(linux)).when(acceptShasums()).yields(shasums);
    given(created, platformCreated(linux))
      .when(acceptShasums(null, { [darwin.filename]: darwin.shasum }))
      .refuses('unprocessable', `SHA256SUMS does not list ${linux.filename}`);
    given(created, platformCreated(linux))
      .when(acceptShasums(null, { ...listed, [linux.filename]: 'c'.repeat(64) }))
      .refuses('unprocessable', `SHA256SUMS lists ${linux.filename} with checksum ${'c'.repeat(64)}`);
  });

  it('reject the file name __proto__', () => {
    given(created)
      .when(acceptShasums(null, JSON.parse(`{"__proto__":"${linux.shasum}"}`) as Record<string, string>))
      .refuses('unprocessable', 'SHA256SUMS lists a file called __proto__');
  });

  it('accept a signature unverified, and its replacement, while the version has no platform', () => {
    const next = { size: 570, sha256: 'f'.repeat(64) };
    given(created, shasums).when(acceptSignature('of another key')).yields(signature);
    given(created, shasums, signature)
      .when(acceptSignature(null, next))
      .yields(
        { type: 'RegistryProviderSignatureUploaded', data: { ...OF, ...next } },
        { type: 'RegistryProviderSignatureVerified', data: { ...OF, keyId: KEY, sha256: next.sha256 } },
      );
    given(created, signature).when(acceptShasums('of another key')).yields(shasums);
  });

  it('record a repeated signature only once, and verify it if that is now possible', () => {
    given(created, signature).when(acceptSignature()).yields();
    given(created, shasums, signature).when(acceptSignature('no key')).yields();
    given(created, shasums, signature).when(acceptSignature()).yields(verified);
    given(created, platformCreated(linux), binary(linux), shasums, signature)
      .when(acceptSignature())
      .yields(verified, published('linux_amd64'));
  });

  it('reject a signature that does not match the checksums if the version has a platform', () => {
    given(created, platformCreated(linux), shasums)
      .when(acceptSignature('of another key'))
      .refuses('unprocessable', 'SHA256SUMS.sig: of another key');
    given(created, platformCreated(linux), signature)
      .when(acceptShasums('of another key'))
      .refuses(
        'unprocessable',
        /^The signature that was uploaded before does not match this SHA256SUMS: of another key/,
      );
  });

  it('verify the signature with the first zip after the key is added', () => {
    given(created, shasums, signature, platformCreated(linux))
      .when(acceptBinary(linux))
      .yields(binary(linux), verified, published('linux_amd64'));
    given(created, shasums, signature, platformCreated(linux))
      .when(acceptBinary(linux, 'no key'))
      .yields(binary(linux));
  });
});

describe('the publication of a version', () => {
  const proved = [created, shasums, signature, verified] as const;

  it('happens with the last missing file, whichever it is', () => {
    given(...proved, platformCreated(linux))
      .when(acceptBinary(linux))
      .yields(binary(linux), published('linux_amd64'));
    given(created, platformCreated(linux), binary(linux), shasums)
      .when(acceptSignature())
      .yields(signature, verified, published('linux_amd64'));
    given(created, platformCreated(linux), binary(linux), signature)
      .when(acceptShasums())
      .yields(shasums, verified, published('linux_amd64'));
    given(...proved, platformCreated(linux), platformCreated(darwin), binary(linux))
      .when(acceptBinary(darwin))
      .yields(binary(darwin), published('darwin_arm64', 'linux_amd64'));
  });

  it('happens if the only platform without a zip is deleted, but not if no platform remains', () => {
    given(...proved, platformCreated(linux), platformCreated(darwin), binary(linux))
      .when(deletePlatform(darwin))
      .yields(platformDeleted(darwin), published('linux_amd64'));
    given(...proved, platformCreated(darwin))
      .when(deletePlatform(darwin))
      .yields(platformDeleted(darwin));
  });

  it('happens only once, even if a platform is added later', () => {
    given(...proved, platformCreated(linux), binary(linux), published('linux_amd64'), platformCreated(darwin))
      .when(acceptBinary(darwin))
      .yields(binary(darwin));
  });

  it('requires a verified signature, and deleting a platform verifies none', () => {
    given(created, shasums, signature, platformCreated(linux), platformCreated(darwin), binary(linux))
      .when(deletePlatform(darwin))
      .yields(platformDeleted(darwin));
  });
});
