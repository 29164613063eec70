import { createHash } from 'node:crypto';
import { expect } from '@jest/globals';
import { generateKey } from 'openpgp';
import { TestRelease, upload, type Signer } from './releases.js';
import { expectStatus, makeMember, makeOrganization, makeTeam, resource } from './seeds.js';
import { pathOf } from './state-file.js';
import type { ApiResponse, ApiTestClient, TestServer } from './server.js';

export const GPG_KEYS = '/api/registry/private/v2/gpg-keys';

export const pathOfProviders = (organization: string): string =>
  `/api/v2/organizations/${organization}/registry-providers`;

export const pathOfProvider = (organization: string, name: string): string =>
  `${pathOfProviders(organization)}/private/${organization}/${name}`;

export const pathOfVersions = (organization: string, name: string): string =>
  `${pathOfProvider(organization, name)}/versions`;

export const pathOfVersion = (organization: string, name: string, version: string): string =>
  `${pathOfVersions(organization, name)}/${version}`;

export const providerBody = (namespace: string, name: string): object =>
  resource('registry-providers', { name, namespace, 'registry-name': 'private' });

/** An id that no key has. */
export const NO_KEY = 'ABCDEF0123456789';

export const versionBody = (version: string, attributes: object = {}): object =>
  resource('registry-provider-versions', { version, 'key-id': NO_KEY, protocols: ['5.0'], ...attributes });

/** Creates a private provider. Returns its id. */
export const makeProvider = async (api: ApiTestClient, organization: string, name: string): Promise<string> =>
  expectStatus(await api.post(pathOfProviders(organization), providerBody(organization, name)), 201).body.data
    .id as string;

/** Creates a version. Returns its document. */
export const makeVersion = async (
  api: ApiTestClient,
  organization: string,
  name: string,
  version: string,
  keyId = NO_KEY,
): Promise<any> =>
  expectStatus(await api.post(pathOfVersions(organization, name), versionBody(version, { 'key-id': keyId })), 201).body
    .data;

/** Returns the attributes of a platform. */
export const platformAttributes = (name: string, version: string, os = 'linux', arch = 'amd64') => ({
  os,
  arch,
  filename: `terraform-provider-${name}_${version}_${os}_${arch}.zip`,
  shasum: createHash('sha256')
    .update(zipOf(name, version, os, arch))
    .digest('hex'),
});

/** Returns the content that stands for the zip of a platform. The server does not read it. */
export const zipOf = (name: string, version: string, os = 'linux', arch = 'amd64'): Buffer =>
  Buffer.from(`${name} ${version} ${os}_${arch}`);

export const platformBody = (attributes: object): object => resource('registry-provider-platforms', attributes);

export const addKey = (api: ApiTestClient, namespace: string, { armor }: Pick<Signer, 'armor'>): Promise<ApiResponse> =>
  api.post(GPG_KEYS, resource('gpg-keys', { namespace, 'ascii-armor': armor }));

/**
 * Creates the organization acme with a member that reads its providers, and a second organization whose owner has no
 * access to acme.
 */
export const settleNeighbours = async (
  server: TestServer,
): Promise<{ readonly member: ApiTestClient; readonly stranger: ApiTestClient }> => {
  await makeOrganization(server, 'acme');
  const { ownersTeam } = await makeOrganization(server, 'neighbour');
  const member = await makeMember(server, 'acme', 'mia', [await makeTeam(server, 'acme', 'readers')]);
  return { member, stranger: await makeMember(server, 'neighbour', 'nora', [ownersTeam]) };
};

export const uploadTo = (api: ApiTestClient, link: string, bytes: Uint8Array): Promise<ApiResponse> =>
  upload(api, pathOf(link), bytes);

type TestSystem = readonly [os: string, arch: string];
export const LINUX: TestSystem = ['linux', 'amd64'];
export const DARWIN: TestSystem = ['darwin', 'arm64'];

/** Creates a version with all files. The provider and the key must exist. Returns the path of the version. */
export const publishVersion = async (
  api: ApiTestClient,
  organization: string,
  name: string,
  version: string,
  signer: Signer,
  systems: readonly TestSystem[] = [LINUX],
): Promise<string> => {
  const { links } = await makeVersion(api, organization, name, version, signer.keyId);
  const release = new TestRelease(api, organization, name, version);
  const archives = systems.map(([os, arch]) => release.archive(os, arch, zipOf(name, version, os, arch)));
  const sums = Buffer.from(archives.map(({ shasum, filename }) => `${shasum}  ${filename}\n`).join(''));
  expectStatus(await uploadTo(api, links['shasums-upload'], sums), 200);
  expectStatus(await uploadTo(api, links['shasums-sig-upload'], await signer.sign(sums)), 200);
  for (const archive of archives) {
    const platform = await release.addPlatform(archive);
    expectStatus(await uploadTo(api, platform.links['provider-binary-upload'], archive.bytes), 200);
  }
  return release.path;
};

/** Returns a public key that clients do not accept: its curve is 448. */
export const newUnsupportedKey = async (): Promise<string> => {
  const { publicKey } = await generateKey({
    type: 'curve448',
    userIDs: [{ name: 'Release', email: 'release@example.test' }],
    date: new Date('2026-01-01T00:00:00Z'),
    format: 'armored',
  });
  return publicKey;
};

/** Matches an exact text, or a pattern. */
export const matchRefusalText = (detail: string | RegExp): unknown =>
  typeof detail === 'string' ? detail : expect.stringMatching(detail);
