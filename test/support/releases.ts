import { createHash, randomBytes } from 'node:crypto';
import { generateKey, readPrivateKey, reformatKey } from 'openpgp';
import { formatChecksums, formatArchiveName, readPublicKey, signDetached } from '#registry/provider-release';
import { expectStatus, resource } from './seeds.js';
import type { ApiResponse, ApiTestClient } from './server.js';
import { pathOf as pathIn } from './state-file.js';

/** A key that signs releases. */
export type Signer = {
  readonly keyId: string;
  /** The public key, ASCII-armored. */
  readonly armor: string;
  readonly privateKey: string;
  sign(content: Uint8Array): Promise<Buffer>;
};

type KeyType =
  | { readonly type: 'rsa'; readonly rsaBits: 2048 }
  | { readonly type: 'ecc'; readonly curve: 'ed25519Legacy' | 'nistP256' };

/** Makes a key of 2026-01-01, by default RSA. With `subkey` a signing subkey signs instead of the primary key. 0: it has no end. `now`: the time of its signatures. */
export const makeSigner = async ({
  subkey = false,
  lifetimeSeconds = 0,
  now = new Date(),
  keyType = { type: 'rsa', rsaBits: 2048 },
}: {
  readonly subkey?: boolean;
  readonly lifetimeSeconds?: number;
  readonly now?: Date;
  readonly keyType?: KeyType;
} = {}): Promise<Signer> => {
  const { publicKey: armor, privateKey } = await generateKey({
    ...keyType,
    userIDs: [{ name: 'Release', email: 'release@example.test' }],
    subkeys: subkey ? [{ sign: true }] : [],
    keyExpirationTime: lifetimeSeconds,
    // The clock of a test can be behind the machine's clock.
    date: new Date('2026-01-01T00:00:00Z'),
    format: 'armored',
  });
  const { keyId } = await readPublicKey(armor, now);
  return {
    keyId,
    armor,
    privateKey,
    sign: async (content) => Buffer.from(await signDetached({ content, armor: privateKey, now })),
  };
};

/** Returns the public key of the signer with an end that is this many seconds after the creation of the key. */
export const renewArmor = async ({ privateKey }: Signer, lifetimeSeconds: number): Promise<string> => {
  const { publicKey } = await reformatKey({
    privateKey: await readPrivateKey({ armoredKey: privateKey }),
    userIDs: [{ name: 'Release', email: 'release@example.test' }],
    keyExpirationTime: lifetimeSeconds,
    date: new Date('2026-02-01T00:00:00Z'),
    format: 'armored',
  });
  return publicKey;
};

export const addGpgKey = async (api: ApiTestClient, namespace: string, { armor }: Signer): Promise<void> => {
  const body = resource('gpg-keys', { namespace, 'ascii-armor': armor });
  expectStatus(await api.post('/api/registry/private/v2/gpg-keys', body), 201);
};

const pathOf = (organization: string, name: string): string =>
  `/api/v2/organizations/${organization}/registry-providers/private/${organization}/${name}`;

/** The zip of a platform as the server sees it: bytes with a name and a checksum. */
export type TestArchive = {
  readonly os: string;
  readonly arch: string;
  readonly filename: string;
  readonly shasum: string;
  readonly bytes: Buffer;
};

export const sha256Of = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

/** A version of a provider before it is published. */
export class TestRelease {
  constructor(
    private readonly api: ApiTestClient,
    readonly organization: string,
    readonly name: string,
    readonly version: string,
  ) {}

  get path(): string {
    return `${pathOf(this.organization, this.name)}/versions/${this.version}`;
  }

  async document(): Promise<any> {
    return expectStatus(await this.api.get(this.path), 200).body.data;
  }

  /** Returns the path of a link in the version's document. */
  async link(name: string): Promise<string> {
    return pathIn((await this.document()).links[name] as string);
  }

  /** Returns the path of a link in a platform's document. */
  async linkOf(archive: Pick<TestArchive, 'os' | 'arch'>, name: string): Promise<string> {
    return pathIn((await this.platform(archive)).links[name] as string);
  }

  archive(os: string, arch = 'amd64', bytes: Buffer = randomBytes(2_000)): TestArchive {
    const { name, version } = this;
    return { os, arch, filename: formatArchiveName({ name, version, os, arch }), shasum: sha256Of(bytes), bytes };
  }

  /** Declares the platform of a zip. Returns the response. */
  declarePlatform({ os, arch, filename, shasum }: TestArchive): Promise<ApiResponse> {
    const body = resource('registry-provider-platforms', { os, arch, filename, shasum });
    return this.api.post(`${this.path}/platforms`, body);
  }

  /** Declares the platform of a zip. Returns its document. */
  async addPlatform(archive: TestArchive): Promise<any> {
    return expectStatus(await this.declarePlatform(archive), 201).body.data;
  }

  platformPath({ os, arch }: Pick<TestArchive, 'os' | 'arch'>): string {
    return `${this.path}/platforms/${os}/${arch}`;
  }

  async platform(archive: Pick<TestArchive, 'os' | 'arch'>): Promise<any> {
    return expectStatus(await this.api.get(this.platformPath(archive)), 200).body.data;
  }
}

/** Creates a provider with one version. */
export const makeRelease = async (
  api: ApiTestClient,
  organization: string,
  name: string,
  { keyId, version = '1.0.0' }: { readonly keyId: string; readonly version?: string },
): Promise<TestRelease> => {
  const provider = resource('registry-providers', { name, namespace: organization, 'registry-name': 'private' });
  expectStatus(await api.post(`/api/v2/organizations/${organization}/registry-providers`, provider), 201);
  const body = resource('registry-provider-versions', { version, 'key-id': keyId, protocols: ['5.0'] });
  expectStatus(await api.post(`${pathOf(organization, name)}/versions`, body), 201);
  return new TestRelease(api, organization, name, version);
};

/** Returns SHA256SUMS of these zips. */
export const checksumsOf = (...archives: readonly TestArchive[]): Buffer =>
  Buffer.from(formatChecksums(Object.fromEntries(archives.map(({ filename, shasum }) => [filename, shasum]))));

/** Uploads like clients: a PUT without a token. */
export const upload = (api: ApiTestClient, link: string, bytes: Uint8Array): Promise<ApiResponse> =>
  api.as(null).put(link, bytes);

/** Declares these platforms and uploads all files of the version. */
export const publish = async (
  api: ApiTestClient,
  release: TestRelease,
  signer: Signer,
  ...archives: TestArchive[]
): Promise<void> => {
  const sums = checksumsOf(...archives);
  for (const archive of archives) await release.addPlatform(archive);
  expectStatus(await upload(api, await release.link('shasums-upload'), sums), 200);
  expectStatus(await upload(api, await release.link('shasums-sig-upload'), await signer.sign(sums)), 200);
  for (const archive of archives) {
    expectStatus(await upload(api, await release.linkOf(archive, 'provider-binary-upload'), archive.bytes), 200);
  }
};
