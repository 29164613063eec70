import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { generateKey } from 'openpgp';
import { parseChecksums, verifyDetached } from '#registry/provider-release';
import { makeDist, type Dist } from '../../../test/support/release-folders.js';
import { makeSigner, type Signer } from '../../../test/support/releases.js';
import { prepareRelease, type PreparedRelease, type PrepareOptions } from './prepare.js';

const DEMO = { name: 'demo', version: '1.0.0' };
const NOW = new Date();

let dist: Dist;
let signer: Signer;
let keys: Dist;

beforeAll(async () => {
  signer = await makeSigner();
  keys = await makeDist();
  await keys.write('public.asc', signer.armor);
  await keys.write('private.asc', signer.privateKey);
});

beforeEach(async () => {
  dist = await makeDist();
});
afterEach(() => dist.remove());
afterAll(() => keys.remove());

const keyFile = (name: string): string => join(keys.path, name);

const prepared = (options: Partial<PrepareOptions> = {}): Promise<PreparedRelease> =>
  prepareRelease({ name: 'demo', folder: dist.path, ...options }, NOW);

const problemsOf = async (options: Partial<PrepareOptions> = {}, kind = 'refused'): Promise<readonly string[]> => {
  const failure = await prepared(options).then(
    () => null,
    (error: unknown) => error as { kind: string; problems: readonly string[] },
  );
  expect(failure?.kind).toBe(kind);
  return failure?.problems ?? [];
};

const packBoth = async (packed = DEMO): Promise<void> => {
  await dist.pack(packed, 'linux_amd64');
  await dist.pack(packed, 'darwin_arm64');
};

describe('a release folder', () => {
  it('of GoReleaser is accepted, and other files in it are reported', async () => {
    await packBoth();
    await dist.sum(DEMO, signer);
    await dist.write(
      'terraform-provider-demo_1.0.0_manifest.json',
      '{"version":1,"metadata":{"protocol_versions":["6.0"]}}',
    );
    await dist.write('artifacts.json', '[]');
    await dist.write('terraform-provider-other_1.0.0_linux_amd64.zip', 'of somebody else');
    const release = await prepared({ publicKey: keyFile('public.asc') });
    expect(release).toMatchObject({
      version: '1.0.0',
      protocols: ['6.0'],
      archives: [
        { os: 'darwin', arch: 'arm64', filename: 'terraform-provider-demo_1.0.0_darwin_arm64.zip' },
        { os: 'linux', arch: 'amd64', filename: 'terraform-provider-demo_1.0.0_linux_amd64.zip' },
      ],
      ignored: ['artifacts.json', 'terraform-provider-other_1.0.0_linux_amd64.zip'],
      key: { keyId: signer.keyId },
    });
  });

  it('with zips only gets SHA256SUMS and a signature', async () => {
    await packBoth();
    const { checksums, signature, archives, protocols } = await prepared({ key: keyFile('private.asc') });
    expect(parseChecksums(checksums)).toEqual(Object.fromEntries(archives.map((one) => [one.filename, one.sha256])));
    const by = await verifyDetached({ armor: signer.armor, content: checksums, signature, now: NOW });
    expect({ by, protocols }).toEqual({ by: signer.keyId, protocols: ['5.0'] });
  });

  it('with zips and SHA256SUMS gets a signature of the unchanged SHA256SUMS', async () => {
    await packBoth();
    await dist.sum(DEMO);
    const file = join(dist.path, 'terraform-provider-demo_1.0.0_SHA256SUMS');
    await writeFile(file, (await readFile(file, 'utf8')).replaceAll('\n', '\r\n'));
    const { checksums } = await prepared({ key: keyFile('private.asc') });
    expect(checksums).toEqual(await readFile(file));
  });

  it('with a signature needs no key', async () => {
    await packBoth();
    await dist.sum(DEMO, signer);
    expect(await prepared()).toMatchObject({ key: null });
  });

  it('with two versions is refused unless an option chooses one', async () => {
    await packBoth();
    await packBoth({ ...DEMO, version: '1.1.0' });
    expect(await problemsOf({ key: keyFile('private.asc') })).toEqual([
      `There are zips of several versions in ${dist.path}: 1.0.0, 1.1.0. Choose one with --version`,
    ]);
    const { version, ignored } = await prepared({ key: keyFile('private.asc'), version: '1.1.0' });
    expect({ version, ignored }).toEqual({
      version: '1.1.0',
      ignored: ['terraform-provider-demo_1.0.0_darwin_arm64.zip', 'terraform-provider-demo_1.0.0_linux_amd64.zip'],
    });
    expect(await problemsOf({ version: '2.0.0' })).toEqual([
      `There is no zip of version 2.0.0 in ${dist.path}, but of 1.0.0, 1.1.0`,
    ]);
  });

  it('uses the protocols of the option before those of the manifest', async () => {
    await packBoth();
    await dist.write('terraform-registry-manifest.json', '{"version":1,"metadata":{"protocol_versions":["6.0"]}}');
    expect((await prepared({ key: keyFile('private.asc') })).protocols).toEqual(['6.0']);
    expect((await prepared({ key: keyFile('private.asc'), protocols: ['5.0'] })).protocols).toEqual(['5.0']);
  });
});

describe('an invalid release', () => {
  it('is refused with all problems at once', async () => {
    await packBoth();
    await dist.pack(DEMO, 'windows_amd64');
    await dist.sum(DEMO);
    await dist.write('terraform-provider-demo_1.0.0_linux_amd64.zip', 'no zip');
    await dist.write('terraform-provider-demo_1.0.0_darwin_arm64.zip', '');
    await dist.write('terraform-provider-demo_v1.0.0_freebsd_amd64.zip', '');
    await dist.pack(DEMO, 'openbsd_386');
    const windows = join(dist.path, 'terraform-provider-demo_1.0.0_windows_amd64.zip');
    await rm(windows);
    expect(await problemsOf()).toEqual([
      'Version is invalid: it must be a semantic version such as 1.2.3 or 1.2.3-beta.1, with no v before it',
      'terraform-provider-demo_1.0.0_darwin_arm64.zip is empty',
      expect.stringMatching(/_linux_amd64\.zip is not a zip that can be installed/),
      expect.stringMatching(/^terraform-provider-demo_1.0.0_darwin_arm64.zip has checksum e3b0.*, SHA256SUMS says/),
      expect.stringMatching(/^terraform-provider-demo_1.0.0_linux_amd64.zip has checksum .*, SHA256SUMS says/),
      'SHA256SUMS does not list terraform-provider-demo_1.0.0_openbsd_386.zip',
      'SHA256SUMS lists terraform-provider-demo_1.0.0_windows_amd64.zip, which is not in the folder',
      'There is no terraform-provider-demo_1.0.0_SHA256SUMS.sig in the folder. Give a private key with --key FILE to create it',
    ]);
  });

  it('is refused for a folder without a zip of the provider', async () => {
    await packBoth({ ...DEMO, name: 'other' });
    expect(await problemsOf()).toEqual([
      `There is no terraform-provider-demo_VERSION_OS_ARCH.zip in ${dist.path}; there are zips of other`,
    ]);
  });

  it('is refused as wrong usage for a missing folder or a file instead of a folder', async () => {
    expect(await problemsOf({ folder: '/nowhere' }, 'usage')).toEqual(['There is no folder /nowhere']);
    expect(await problemsOf({ folder: keyFile('public.asc') }, 'usage')).toEqual([
      expect.stringMatching(/is not a folder/),
    ]);
  });

  it('is refused for a signature of another content, or without SHA256SUMS', async () => {
    await packBoth();
    await dist.sum(DEMO, signer);
    await dist.pack(DEMO, 'windows_amd64');
    await dist.sum(DEMO);
    expect(await problemsOf({ publicKey: keyFile('public.asc') })).toEqual([
      'The signature does not match this content',
    ]);
    await rm(join(dist.path, 'terraform-provider-demo_1.0.0_SHA256SUMS'));
    expect(await problemsOf()).toEqual([
      'There is a terraform-provider-demo_1.0.0_SHA256SUMS.sig in the folder, but no terraform-provider-demo_1.0.0_SHA256SUMS, which it signs',
    ]);
  });

  it('is refused for a signature by another key', async () => {
    await packBoth();
    const otherSigner = await makeSigner();
    await dist.sum(DEMO, otherSigner);
    expect(await problemsOf({ key: keyFile('private.asc') })).toEqual([
      `The signature was made by the key ${otherSigner.keyId}, not by ${signer.keyId}`,
    ]);
  });

  it('is refused for a key that clients cannot use, an invalid key, and a key with another id than --key-id', async () => {
    await packBoth();
    const { privateKey } = await generateKey({ type: 'curve448', userIDs: [{ name: 'New' }], format: 'armored' });
    await keys.write('curve.asc', privateKey);
    expect(await problemsOf({ key: keyFile('curve.asc') })).toEqual([
      expect.stringMatching(/ed25519 and NIST keys only/),
    ]);
    expect(await problemsOf({ key: keyFile('public.asc') })).toEqual([
      expect.stringMatching(/must be an ASCII-armored private key/),
    ]);
    expect(await problemsOf({ key: keyFile('private.asc'), keyId: 'ABCDEF0123456789' })).toEqual([
      `--key-id: must be ${signer.keyId}, the id of the given key, got ABCDEF0123456789`,
    ]);
    expect(await problemsOf({ key: keyFile('lost.asc') }, 'usage')).toEqual([
      `--key: there is no file ${keyFile('lost.asc')}`,
    ]);
  });

  it('is refused for a missing or wrong passphrase, without printing it or the key', async () => {
    await packBoth();
    const { privateKey } = await generateKey({
      type: 'rsa',
      rsaBits: 2048,
      userIDs: [{ name: 'Locked' }],
      passphrase: 'open sesame',
      date: new Date('2026-01-01T00:00:00Z'),
      format: 'armored',
    });
    await keys.write('locked.asc', privateKey);
    const key = keyFile('locked.asc');
    expect(await problemsOf({ key })).toEqual([expect.stringMatching(/is locked; its passphrase is needed$/)]);
    expect(await problemsOf({ key, passphrase: 'open barley' })).toEqual([
      expect.stringMatching(/: the passphrase is wrong$/),
    ]);
    expect((await prepared({ key, passphrase: 'open sesame' })).archives).toHaveLength(2);
  });
});
