import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sql } from '#platform/kernel';
import { findVendorKey } from '#registry/provider-release';
import { HASHICORP_RELEASE } from '../../../../test/support/hashicorp-release.js';
import {
  addKey,
  DARWIN,
  GPG_KEYS,
  LINUX,
  makeProvider,
  makeVersion,
  pathOfProvider,
  platformAttributes,
  platformBody,
  publishVersion,
  settleNeighbours,
  uploadTo,
} from '../../../../test/support/registry.js';
import { checksumsOf, makeSigner, TestRelease, type Signer } from '../../../../test/support/releases.js';
import {
  expectStatus,
  makeRemotePool,
  makeAgentToken,
  makeConfigurationVersion,
  makeMember,
  makeOrganization,
  makeOrganizationToken,
  makeRun,
  makeTeam,
  makeToken,
  createSecondOrganization,
  makeWorkspace,
} from '../../../../test/support/seeds.js';
import { fromTheFullHour } from '../../../../test/support/clocks.js';
import {
  startTestServer,
  type ApiResponse,
  type ApiTestClient,
  type TestServer,
} from '../../../../test/support/server.js';

const PROVIDERS = '/api/registry/v1/providers';

const clock = fromTheFullHour();
let server: TestServer;
let signer: Signer;
let member: ApiTestClient;
let stranger: ApiTestClient;

beforeAll(async () => {
  server = await startTestServer({ clock });
  signer = await makeSigner();
  ({ member, stranger } = await settleNeighbours(server));
  expectStatus(await addKey(server, 'acme', signer), 201);
  await makeProvider(server, 'acme', 'aws');
  await publishVersion(server, 'acme', 'aws', '1.0.0', signer, [LINUX, DARWIN]);
});

afterAll(() => server.close());

const versions = (name: string, api: ApiTestClient = member, namespace = 'acme'): Promise<ApiResponse> =>
  api.get(`${PROVIDERS}/${namespace}/${name}/versions`);
const download = (
  name: string,
  version = '1.0.0',
  system = 'linux/amd64',
  api: ApiTestClient = member,
): Promise<ApiResponse> => api.get(`${PROVIDERS}/acme/${name}/${version}/download/${system}`);

/** Sends a request with extra headers, which the test client does not support. */
const fetched = async (path: string, headers: Record<string, string>, token = server.adminToken): Promise<Response> =>
  fetch(`${server.url}${path}`, { headers: { authorization: `Bearer ${token}`, ...headers } });

describe('the provider registry protocol', () => {
  it('lists versions with protocols and platforms as plain JSON', async () => {
    const answer = expectStatus(await versions('aws'), 200);
    expect(answer.headers.get('content-type')).toBe('application/json');
    expect(answer.body).toEqual({
      versions: [
        {
          version: '1.0.0',
          protocols: ['5.0'],
          platforms: [
            { os: 'darwin', arch: 'arm64' },
            { os: 'linux', arch: 'amd64' },
          ],
        },
      ],
    });
  });

  it('describes a package with the links of its files and the key that verifies them', async () => {
    const answer = expectStatus(await download('aws'), 200);
    expect(answer.headers.get('content-type')).toBe('application/json');
    const { filename, shasum } = platformAttributes('aws', '1.0.0');
    const link = (name: string) =>
      expect.stringMatching(new RegExp(`/api/registry/private/v2/files/[\\w-]+\\.[\\w-]+/${name}$`));
    expect(answer.body).toEqual({
      protocols: ['5.0'],
      os: 'linux',
      arch: 'amd64',
      filename,
      download_url: link(filename),
      shasum,
      shasums_url: link('terraform-provider-aws_1.0.0_SHA256SUMS'),
      shasums_signature_url: link('terraform-provider-aws_1.0.0_SHA256SUMS.sig'),
      signing_keys: {
        gpg_public_keys: [
          { key_id: signer.keyId, ascii_armor: signer.armor, trust_signature: '', source: '', source_url: null },
        ],
      },
    });
  });

  it('ignores the Accept header, and the case of the namespace', async () => {
    const { text } = await versions('aws');
    const accepting = await fetched(`${PROVIDERS}/acme/aws/versions`, { accept: 'application/vnd.api+json' });
    expect([accepting.headers.get('content-type'), await accepting.text()]).toEqual(['application/json', text]);
    // Clients write namespaces in lower case.
    await makeOrganization(server, 'Capitals');
    expectStatus(await addKey(server, 'Capitals', signer), 201);
    await makeProvider(server, 'Capitals', 'aws');
    await publishVersion(server, 'Capitals', 'aws', '1.0.0', signer);
    expect(expectStatus(await versions('aws', server, 'capitals'), 200).body.versions).toHaveLength(1);
    expectStatus(await server.get(`${PROVIDERS}/capitals/aws/1.0.0/download/linux/amd64`), 200);
  });

  it('serves the organization with the exact name to every caller if two names differ only in case', async () => {
    const { ownersTeam } = await createSecondOrganization(server, 'Twin', 'twin');
    const [upper, lower] = [
      await makeMember(server, 'Twin', 'ursula', [await makeTeam(server, 'Twin', 'readers')]),
      await makeMember(server, 'twin', 'lotte', [ownersTeam]),
    ];
    for (const [organization, version] of [
      ['Twin', '1.0.0'],
      ['twin', '6.6.6'],
    ] as const) {
      expectStatus(await addKey(server, organization, signer), 201);
      await makeProvider(server, organization, 'aws');
      await publishVersion(server, organization, 'aws', version, signer);
    }
    const versionOf = async (api: ApiTestClient, namespace: string): Promise<string> =>
      expectStatus(await versions('aws', api, namespace), 200).body.versions[0].version as string;
    expect([await versionOf(server, 'twin'), await versionOf(server, 'Twin')]).toEqual(['6.6.6', '1.0.0']);
    expect([await versionOf(lower, 'twin'), await versionOf(upper, 'Twin')]).toEqual(['6.6.6', '1.0.0']);
    // The address of one organization never returns a provider of the other.
    expectStatus(await versions('aws', upper, 'twin'), 404);
    expectStatus(await versions('aws', lower, 'Twin'), 404);
    // No name has this spelling, so the oldest organization is used.
    expect(await versionOf(server, 'TWIN')).toBe('1.0.0');
    const download = (namespace: string) => server.get(`${PROVIDERS}/${namespace}/aws/1.0.0/download/linux/amd64`);
    expectStatus(await download('Twin'), 200);
    expectStatus(await download('twin'), 404);
  });

  it('finds prereleases and build metadata by their exact names', async () => {
    await makeProvider(server, 'acme', 'named');
    for (const version of ['1.0.0-beta.1', '2.0.0+build.7'])
      await publishVersion(server, 'acme', 'named', version, signer);
    expect(
      expectStatus(await versions('named'), 200).body.versions.map(({ version }: { version: string }) => version),
    ).toEqual(['1.0.0-beta.1', '2.0.0+build.7']);
    expectStatus(await download('named', '1.0.0-beta.1'), 200);
    expectStatus(await download('named', '2.0.0+build.7'), 200);
    expectStatus(await download('named', '2.0.0'), 404);
  });
});

describe('versions in the provider registry protocol', () => {
  const listServed = async (name: string): Promise<[string, string[]][]> =>
    expectStatus(await versions(name), 200).body.versions.map(
      ({ version, platforms }: { version: string; platforms: { os: string; arch: string }[] }) => [
        version,
        platforms.map(({ os, arch }) => `${os}_${arch}`),
      ],
    );

  it('are listed and downloadable only when complete, at each step of the upload', async () => {
    await makeProvider(server, 'acme', 'steps');
    const { links } = await makeVersion(server, 'acme', 'steps', '1.0.0', signer.keyId);
    const release = new TestRelease(server, 'acme', 'steps', '1.0.0');
    const [linux, darwin] = [release.archive('linux'), release.archive('darwin', 'arm64')];
    const sums = checksumsOf(linux, darwin);
    const signature = `a signature of SHA256SUMS by GPG key ${signer.keyId}`;
    const expectMissing = async (...missing: readonly string[]): Promise<void> => {
      expect(expectStatus(await versions('steps'), 200).body).toEqual({
        versions: [],
        warnings: [`Version 1.0.0 cannot be installed yet: it still needs ${missing.join(', ')}`],
      });
      expectStatus(await download('steps'), 404);
    };
    await expectMissing('SHA256SUMS', signature, 'a platform');
    expectStatus(await uploadTo(server, links['shasums-upload'], sums), 200);
    const [first, second] = [await release.addPlatform(linux), await release.addPlatform(darwin)];
    expectStatus(await uploadTo(server, first.links['provider-binary-upload'], linux.bytes), 200);
    await expectMissing(signature, darwin.filename);
    expectStatus(await uploadTo(server, links['shasums-sig-upload'], await signer.sign(sums)), 200);
    await expectMissing(darwin.filename);
    expectStatus(await uploadTo(server, second.links['provider-binary-upload'], darwin.bytes), 200);
    expect(await listServed('steps')).toEqual([['1.0.0', ['darwin_arm64', 'linux_amd64']]]);

    expectStatus(await server.delete(release.platformPath(darwin)), 204);
    expect(await listServed('steps')).toEqual([['1.0.0', ['linux_amd64']]]);
    await release.addPlatform(darwin);
    expect(await listServed('steps')).toEqual([['1.0.0', ['linux_amd64']]]);
    expectStatus(await download('steps', '1.0.0', 'darwin/arm64'), 404);
    expectStatus(await download('steps'), 200);
    expectStatus(await server.delete(release.path), 204);
    expect(await listServed('steps')).toEqual([]);
    expectStatus(await download('steps'), 404);
  });

  it('disappear while their GPG key is removed, and return with the key', async () => {
    await makeOrganization(server, 'keyed');
    const signerOfOrganization = await makeSigner();
    expectStatus(await addKey(server, 'keyed', signerOfOrganization), 201);
    await makeProvider(server, 'keyed', 'aws');
    await publishVersion(server, 'keyed', 'aws', '1.0.0', signerOfOrganization);
    const requestStatuses = async (): Promise<[number, number]> => [
      (await versions('aws', server, 'keyed')).status,
      (await server.get(`${PROVIDERS}/keyed/aws/1.0.0/download/linux/amd64`)).status,
    ];
    expect(await requestStatuses()).toEqual([200, 200]);
    expectStatus(await server.delete(`${GPG_KEYS}/keyed/${signerOfOrganization.keyId}`), 204);
    expect(await requestStatuses()).toEqual([200, 404]);
    expect((await versions('aws', server, 'keyed')).body.versions).toEqual([]);
    expectStatus(await addKey(server, 'keyed', signerOfOrganization), 201);
    expect(await requestStatuses()).toEqual([200, 200]);
  });

  it('need no upload of the key of HashiCorp, which every organization has', async () => {
    const { shasums, signature } = HASHICORP_RELEASE;
    const keyId = '34365d9472d7468f';
    await makeProvider(server, 'acme', 'null');
    const { links } = await makeVersion(server, 'acme', 'null', '3.1.0', keyId);
    expectStatus(await uploadTo(server, links['shasums-upload'], shasums), 200);
    expectStatus(await uploadTo(server, links['shasums-sig-upload'], signature), 200);
    const release = new TestRelease(server, 'acme', 'null', '3.1.0');
    const attributes = { os: 'linux', arch: 'amd64', filename: 'terraform-provider-null_3.1.0_linux_amd64.zip' };
    const shasum = '53e30545ff8926a8e30ad30648991ca8b93b6fa496272cd23b26763c8ee84515';
    expectStatus(await server.post(`${release.path}/platforms`, platformBody({ ...attributes, shasum })), 201);
    expect((await server.get(release.path)).body.data.attributes).toMatchObject({
      'key-id': keyId,
      missing: [attributes.filename],
    });
    // The zip has 15 MB, so the views get what its upload would have written.
    await server.store.database.rows(sql`update registry_provider_platforms set size = 1 where shasum = ${shasum}`);
    await server.store.database.rows(
      sql`update registry_provider_versions set published_at = now() where version = '3.1.0'`,
    );
    expect((await versions('null')).body.versions).toMatchObject([{ version: '3.1.0' }]);
    const { body } = expectStatus(await member.get(`${PROVIDERS}/acme/null/3.1.0/download/linux/amd64`), 200);
    expect(body.signing_keys.gpg_public_keys).toEqual([
      {
        key_id: '34365D9472D7468F',
        ascii_armor: findVendorKey(keyId),
        trust_signature: '',
        source: '',
        source_url: null,
      },
    ]);
    expectStatus(await server.delete(release.path), 204);
  });

  it('are missing with a warning about the newest one if none can be installed', async () => {
    await makeProvider(server, 'acme', 'wanting');
    await makeVersion(server, 'acme', 'wanting', '1.0.0', 'other');
    const describeMissing = (version: string, key: string) =>
      `Version ${version} cannot be installed yet: it still needs SHA256SUMS, a signature of SHA256SUMS by GPG key ${key}, GPG key ${key}, a platform`;
    const answer = async () => expectStatus(await versions('wanting'), 200).body;
    expect(await answer()).toEqual({ versions: [], warnings: [describeMissing('1.0.0', 'other')] });
    clock.pass({ seconds: 1 });
    await makeVersion(server, 'acme', 'wanting', '1.1.0', 'third');
    expect(await answer()).toEqual({ versions: [], warnings: [describeMissing('1.1.0', 'third')] });
    // The warning is left out as soon as one version can be installed.
    await publishVersion(server, 'acme', 'wanting', '0.9.0', signer);
    expect(await listServed('wanting')).toEqual([['0.9.0', ['linux_amd64']]]);
    expect(await answer()).not.toHaveProperty('warnings');
  });

  it('return 409 with the reason in the status line if the signature is not by the key, because clients show only that line', async () => {
    await makeProvider(server, 'acme', 'forged');
    const { links } = await makeVersion(server, 'acme', 'forged', '1.0.0', signer.keyId);
    const release = new TestRelease(server, 'acme', 'forged', '1.0.0');
    const linux = release.archive('linux');
    const sums = checksumsOf(linux);
    expectStatus(await uploadTo(server, links['shasums-sig-upload'], await (await makeSigner()).sign(sums)), 200);
    expectStatus(await uploadTo(server, links['shasums-upload'], sums), 200);
    const reason = `Version 1.0.0 cannot be installed yet: it still needs a signature of SHA256SUMS by GPG key ${signer.keyId}, a platform`;
    const answer = await fetched(`${PROVIDERS}/acme/forged/versions`, {});
    expect([answer.status, answer.statusText, await answer.json()]).toEqual([409, reason, { errors: [reason] }]);
    expectStatus(await uploadTo(server, links['shasums-sig-upload'], await signer.sign(sums)), 200);
    expect((await versions('forged')).body.versions).toEqual([]);
    await release.addPlatform(linux);
  });

  it('replace characters that are not allowed in the status line', async () => {
    const answer = await fetched(`${PROVIDERS}/acme/${encodeURIComponent('no\r\nX-Injected: 1 ü')}/versions`, {});
    expect([answer.status, answer.headers.get('x-injected')]).toEqual([404, null]);
    expect(answer.statusText).toBe('There is no provider acme/no??X-Injected: 1 ?');
    const long = await fetched(`${PROVIDERS}/acme/${'k'.repeat(450)}/versions`, {});
    expect(long.statusText).toHaveLength(400);
  });

  it('are an empty list for a new provider, and 404 for a provider that does not exist', async () => {
    await makeProvider(server, 'acme', 'bare');
    expect(expectStatus(await versions('bare'), 200).body).toEqual({ versions: [] });
    const answer = expectStatus(await versions('none'), 404);
    expect(answer.headers.get('content-type')).toBe('application/json');
    expect(answer.body).toEqual({ errors: ['There is no provider acme/none'] });
    expect(expectStatus(await download('aws', '1.0.0', 'plan9/amd64'), 404).body).toEqual({
      errors: ['There is no package of aws 1.0.0 for plan9_amd64'],
    });
    expectStatus(await server.delete(pathOfProvider('acme', 'bare')), 204);
    expectStatus(await versions('bare'), 404);
  });
});

describe('permissions to install a provider', () => {
  it('are held by every member, and by every team, run and organization token', async () => {
    const readers = await makeTeam(server, 'acme', 'installers');
    const workspace = await makeWorkspace(server, 'acme', 'one');
    await makeConfigurationVersion(server, workspace);
    const run = await makeRun(server, workspace, { 'plan-only': true });
    const agents = server.as(await makeAgentToken(server, await makeRemotePool(server, 'acme', 'edge')));
    const secrets = [
      await makeToken(server, `/api/v2/teams/${readers}/authentication-token`),
      await makeOrganizationToken(server, 'acme'),
      await makeToken(agents, `/api/v2/runs/${run}/authentication-tokens`),
    ];
    for (const api of [member, ...secrets.map((secret) => server.as(secret))]) {
      const answers = [await versions('aws', api), await download('aws', '1.0.0', 'linux/amd64', api)];
      expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    }
  });

  it('are denied without a valid token, in the error format of the protocol', async () => {
    for (const token of [null, 'wrong.atlasv1.token', 'x']) {
      for (const path of ['acme/aws/versions', 'acme/aws/1.0.0/download/linux/amd64', 'acme/none/versions']) {
        const answer = expectStatus(await server.as(token).get(`${PROVIDERS}/${path}`), 401);
        expect(answer.headers.get('content-type')).toBe('application/json');
        expect(answer.body).toEqual({ errors: [expect.stringMatching(/\w/)] });
      }
    }
  });

  it('are denied with the same 404 as for a missing provider to callers of other organizations', async () => {
    const audit = await makeToken(server, '/api/v2/organizations/acme/authentication-token?token=audit-trails');
    for (const api of [stranger, server.as(audit)]) {
      const [there, none] = [
        expectStatus(await versions('aws', api), 404),
        expectStatus(await versions('gcp', api), 404),
      ];
      expect(there.text.replaceAll('aws', 'gcp')).toBe(none.text);
      const [one, missing] = [
        await download('aws', '1.0.0', 'linux/amd64', api),
        await download('aws', '9.9.9', 'linux/amd64', api),
      ];
      expect(one.text.replaceAll('1.0.0', '9.9.9')).toBe(expectStatus(missing, 404).text);
      expect(one.status).toBe(404);
    }
  });

  it('are denied as soon as the token is revoked', async () => {
    const { ownersTeam } = await makeOrganization(server, 'revoking');
    const path = `/api/v2/teams/${ownersTeam}/authentication-token`;
    const api = server.as(await makeToken(server, path));
    await makeProvider(server, 'revoking', 'aws');
    expectStatus(await versions('aws', api, 'revoking'), 200);
    expectStatus(await server.delete(path), 204);
    for (const name of ['aws', 'none']) {
      expect(expectStatus(await versions(name, api, 'revoking'), 401).body.errors).toHaveLength(1);
    }
  });
});

describe('the ETag of a response', () => {
  it.each(['acme/aws/versions', 'acme/aws/1.0.0/download/linux/amd64'])(
    'avoids sending the same content again: %s',
    async (path) => {
      const first = await fetched(`${PROVIDERS}/${path}`, {});
      const tag = first.headers.get('etag') ?? '';
      expect(tag).toMatch(/^"[\w-]{43}"$/);
      expect(first.headers.get('cache-control')).toBe('private, no-cache');
      for (const match of [tag, `W/${tag}`, `"other", ${tag}`, '*']) {
        const response = await fetched(`${PROVIDERS}/${path}`, { 'if-none-match': match });
        expect([response.status, await response.text(), response.headers.get('etag')]).toEqual([304, '', tag]);
      }
      const changed = await fetched(`${PROVIDERS}/${path}`, { 'if-none-match': '"other"' });
      expect([changed.status, await changed.text()]).toEqual([200, await first.text()]);
      // A caller without permission gets no 304.
      const denied = await fetch(`${server.url}${PROVIDERS}/${path}`, { headers: { 'if-none-match': tag } });
      expect(denied.status).toBe(401);
    },
  );

  it('changes with the content', async () => {
    await makeProvider(server, 'acme', 'tagged');
    const tag = async (): Promise<string | null> => (await versions('tagged')).headers.get('etag');
    const before = await tag();
    await publishVersion(server, 'acme', 'tagged', '1.0.0', signer);
    const after = await tag();
    expect(after).not.toBe(before);
    expectStatus(
      await server.post(
        `${pathOfProvider('acme', 'tagged')}/versions/1.0.0/platforms`,
        platformBody(platformAttributes('tagged', '1.0.0')),
      ),
      422,
    );
    expect(await tag()).toBe(after);
  });

  it('changes every hour with the links, which are valid for a day', async () => {
    const link = async (): Promise<string> => (await download('aws')).body.download_url as string;
    const before = await link();
    clock.pass({ minutes: 60 });
    const after = await link();
    expect(after).not.toBe(before);
    const follow = (to: string): Promise<ApiResponse> => server.as(null).get(new URL(to).pathname);
    clock.pass({ minutes: 22 * 60 });
    expectStatus(await follow(before), 200);
    clock.pass({ minutes: 3 * 60 });
    expect(expectStatus(await follow(before), 403).text).toContain('expired');
  });
});
