import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { makeDist, type Dist } from '../../../test/support/release-folders.js';
import { addGpgKey, makeSigner, type Signer } from '../../../test/support/releases.js';
import { expectStatus, makeMember, makeOrganization, makeTeam } from '../../../test/support/seeds.js';
import { startTestServer, type TestServer } from '../../../test/support/server.js';
import { startFaultyProxy, type FaultyProxy } from '../../../test/support/faulty-proxy.js';
import { ApiClient } from './api-client.js';
import { CommandError } from './command-error.js';
import { HttpClient, type RetryPolicy } from './http-client.js';
import { prepareRelease, type PrepareOptions } from './prepare.js';
import { publishRelease, type PublishResult } from './publish.js';
import { ProviderRegistryClient } from './registry-client.js';

const PATIENT: RetryPolicy = { retries: 5, minTimeout: 1, maxTimeout: 2 };
const IMPATIENT: RetryPolicy = { retries: 0, minTimeout: 1, maxTimeout: 1 };
const SYSTEMS = ['darwin_arm64', 'linux_amd64', 'windows_amd64'];

let proxy: FaultyProxy;
let server: TestServer;
let signer: Signer;
let dist: Dist;
let organization: string;
let organizations = 0;

beforeAll(async () => {
  proxy = await startFaultyProxy();
  server = await startTestServer({ env: { CADASTRE_PUBLIC_URL: proxy.url } });
  proxy.lead(server.url);
  signer = await makeSigner();
});
afterAll(async () => {
  await proxy.close();
  await server.close();
});

beforeEach(async () => {
  organization = `publishers-${(organizations += 1)}`;
  await makeOrganization(server, organization);
  dist = await makeDist();
  await dist.write('private.asc', signer.privateKey);
  await pack();
});
afterEach(async () => {
  proxy.trouble(() => null);
  proxy.passed.length = 0;
  await dist.remove();
});

const DEMO = { name: 'demo', version: '1.0.0' };
const zipFor = (system: string): string => `terraform-provider-demo_1.0.0_${system}.zip`;

/** Packs zips with random content, so that each has another checksum. */
const pack = async (): Promise<void> => {
  for (const system of SYSTEMS) await dist.pack(DEMO, system, randomBytes(200_000));
};

type Attempt = Partial<PrepareOptions> & {
  readonly token?: string;
  readonly patience?: RetryPolicy;
  readonly signal?: AbortSignal;
  readonly to?: string;
  /** Called with the number of bytes of a zip that have been sent. */
  readonly sent?: (filename: string, bytes: number) => void;
};

let lines: string[];

const published = async ({
  token = server.adminToken,
  patience = PATIENT,
  signal = new AbortController().signal,
  to = organization,
  sent = () => {},
  ...options
}: Attempt = {}): Promise<PublishResult> => {
  lines = [];
  const print = (line: string): void => void lines.push(line);
  const release = await prepareRelease(
    { name: 'demo', folder: dist.path, key: join(dist.path, 'private.asc'), ...options },
    new Date(),
  );
  const api = new ApiClient(new HttpClient({ signal, print, patience }), new URL(proxy.url), {
    secret: token,
    source: 'the test',
  });
  const registry = await ProviderRegistryClient.find(api, to, 'demo');
  const progress = { print, uploads: () => ({ sent, done: () => {}, end: () => {} }) };
  return publishRelease({ release, registry, keyId: options.keyId, progress, now: () => new Date() });
};

const failureOf = (attempt: Attempt): Promise<{ kind: string; problems: readonly string[] }> =>
  published(attempt).then(
    () => ({ kind: 'none', problems: [] }),
    ({ kind, problems }: CommandError) => ({ kind, problems }),
  );

const writes = (): string[] =>
  proxy.passed
    .filter(({ method }) => method !== 'GET')
    .map(({ method, path, status }) => `${method} ${status} ${path.replace(/uploads\/.*/, 'uploads')}`);

const versionPath = (): string =>
  `/api/v2/organizations/${organization}/registry-providers/private/${organization}/demo/versions/1.0.0`;

const attributesOf = async (): Promise<any> => expectStatus(await server.get(versionPath()), 200).body.data.attributes;

const offered = async (): Promise<readonly string[]> => {
  const answer = await server.get(`/api/registry/v1/providers/${organization}/demo/versions`);
  const [version] = (answer.status === 200 ? answer.body.versions : []) as any[];
  return (version?.platforms ?? []).map(({ os, arch }: any) => `${os}_${arch}`);
};

describe('a published release', () => {
  it('creates key, provider and version if they are missing, and can be installed', async () => {
    expect(await published()).toMatchObject({
      source: `${new URL(proxy.url).host}/${organization}/demo`,
      version: '1.0.0',
      keyId: signer.keyId,
      protocols: ['5.0'],
      platforms: SYSTEMS.map((system) => ({ filename: zipFor(system) })),
      uploaded: [
        ...SYSTEMS.map(zipFor),
        'terraform-provider-demo_1.0.0_SHA256SUMS',
        'terraform-provider-demo_1.0.0_SHA256SUMS.sig',
      ].toSorted(),
    });
    expect(await attributesOf()).toMatchObject({ usable: true, missing: [], 'key-id': signer.keyId });
    expect(await offered()).toEqual(SYSTEMS);
    expect(lines).toEqual([
      `Added the GPG key ${signer.keyId} to ${organization}`,
      `Created the provider ${organization}/demo`,
      `Created version 1.0.0 for the GPG key ${signer.keyId}`,
    ]);
  });

  it('is listed for clients only after the last upload, which is the signature', async () => {
    let before: unknown = null;
    proxy.trouble(async ({ method }) => {
      const isLast =
        method === 'PUT' && proxy.passed.filter((one) => one.method === 'PUT').length === SYSTEMS.length + 1;
      if (isLast) before = await offered();
      return null;
    });
    await published();
    expect(before).toEqual([]);
  });

  it('is not changed by a second publication', async () => {
    await published();
    proxy.passed.length = 0;
    expect((await published()).uploaded).toEqual([]);
    expect(writes()).toEqual([]);
  });

  it('needs no local key if the organization has the key of the signature', async () => {
    await dist.sum(DEMO, signer);
    expect(await failureOf({ key: undefined })).toEqual({
      kind: 'refused',
      problems: [
        expect.stringMatching(`^${organization} has no GPG key. Give the key of the signature with --public-key FILE`),
      ],
    });
    await addGpgKey(server, organization, await makeSigner());
    expect((await failureOf({ key: undefined })).problems).toEqual([
      expect.stringMatching(
        `No GPG key of ${organization} matches: The signature was made by the key ${signer.keyId}, not by`,
      ),
    ]);
    await addGpgKey(server, organization, signer);
    expect(await published({ key: undefined })).toMatchObject({ keyId: signer.keyId });
  });

  it('is verified by the flags of its files if the server does not send `usable`', async () => {
    proxy.trouble(({ method, path }) =>
      method === 'GET' && path === versionPath()
        ? {
            change: (body) => {
              if (body.data) {
                delete body.data.attributes.usable;
                delete body.data.attributes.missing;
              }
              return body;
            },
          }
        : null,
    );
    await published();
    expect(await offered()).toEqual(SYSTEMS);
  });

  it('is reported as different if the server returns another checksum', async () => {
    proxy.trouble(({ path }) =>
      path.includes('/download/') ? { change: (body) => ({ ...body, shasum: 'f'.repeat(64) }) } : null,
    );
    expect(await failureOf({})).toEqual({
      kind: 'refused',
      problems: ['the server returns another zip of version 1.0.0 than this release has'],
    });
  });
});

describe('an interrupted publication', () => {
  it('is completed by the same command after a broken upload', async () => {
    let zips = 0;
    proxy.trouble(({ method }) => (method === 'PUT' && (zips += 1) === 3 ? { cutAfter: 70_000 } : null));
    expect(await failureOf({ patience: IMPATIENT })).toMatchObject({ kind: 'unreachable' });
    expect(await offered()).toEqual([]);

    const arrived = proxy.passed.filter(({ method, status }) => method === 'PUT' && status === 200).length;
    proxy.passed.length = 0;
    const { uploaded } = await published();
    expect(uploaded).toHaveLength(SYSTEMS.length + 2 - arrived);
    expect(await offered()).toEqual(SYSTEMS);
  });

  it('is completed by the same command after the user has stopped it', async () => {
    const controller = new AbortController();
    const stopped = new CommandError('stopped', ['Stopped']);
    const sent = (_: string, bytes: number): void => {
      if (bytes > 0) controller.abort(stopped);
    };
    expect(await failureOf({ signal: controller.signal, sent })).toEqual({ kind: 'stopped', problems: ['Stopped'] });
    await published();
    expect(await offered()).toEqual(SYSTEMS);
  });

  it('creates everything once if each response is lost', async () => {
    const lostPaths = new Set<string>();
    proxy.trouble(({ method, path }) => {
      if (method === 'GET' || lostPaths.has(path)) return null;
      lostPaths.add(path);
      return { swallow: true };
    });
    await published();
    expect(await offered()).toEqual(SYSTEMS);
    const platforms = expectStatus(await server.get(`${versionPath()}/platforms`), 200).body.data;
    expect(platforms).toHaveLength(SYSTEMS.length);
  });

  it('continues by itself while the server is busy, unavailable or failing for some time', async () => {
    const troubles = [{ status: 503 }, { status: 429 }, { cut: true }, { status: 500 }];
    const pendingFaults = new Map<string, (typeof troubles)[number][]>();
    proxy.trouble(({ method, path }) => {
      const key = `${method} ${path}`;
      if (!pendingFaults.has(key)) pendingFaults.set(key, [...troubles]);
      return pendingFaults.get(key)?.pop();
    });
    await published();
    expect(await offered()).toEqual(SYSTEMS);
    const reasons = lines.map((line) => /: ([^:]*); trying again$/.exec(line)?.[1] ?? '');
    for (const status of [500, 503]) expect(reasons).toContain(`the server answers ${status}`);
    expect(reasons).toContain('the server limits requests at the moment');
    expect(reasons.filter((reason) => /closed|hang up|ECONNRESET|EPIPE/.test(reason))).not.toEqual([]);
    expect(lines.join()).not.toContain('/uploads/');
  });

  it('fails with the status if the server stays unavailable', async () => {
    proxy.trouble(() => ({ status: 503 }));
    expect(await failureOf({})).toEqual({
      kind: 'unreachable',
      problems: [`${new URL(proxy.url).host}: discovery: the server answers 503`],
    });
  });
});

describe('a publication', () => {
  it('is refused before anything is sent if it differs from the published version', async () => {
    await published();
    await dist.pack(DEMO, 'linux_amd64', randomBytes(10));
    await dist.pack(DEMO, 'freebsd_amd64', randomBytes(10));
    proxy.passed.length = 0;
    const { kind, problems } = await failureOf({ protocols: ['6.0'] });
    expect({ kind, problems }).toEqual({
      kind: 'refused',
      problems: [
        'Version 1.0.0 exists already, and differs from this release:',
        '  the published version has the protocols 5.0, this release has 6.0',
        expect.stringMatching(`^  the published ${zipFor('linux_amd64')} has checksum .*, this one has`),
        '  the published SHA256SUMS differs',
        'A published version is never changed. Choose another version, or delete the existing one',
      ],
    });
    expect(writes()).toEqual([]);
  });

  it('is refused for an unknown organization', async () => {
    expect(await failureOf({ to: 'nobody' })).toEqual({
      kind: 'refused',
      problems: [
        `There is no organization nobody at ${new URL(proxy.url).host}, or the token of the test cannot read it`,
      ],
    });
  });

  it('is refused for an unknown token, without printing it', async () => {
    const token = 'nobody.atlasv1.knows';
    const { kind, problems } = await failureOf({ token });
    expect({ kind, problems }).toEqual({
      kind: 'refused',
      problems: [`${new URL(proxy.url).host} does not accept the token of the test`],
    });
  });

  it('is refused for a member without permission to manage providers, and accepted from a member of a team with it', async () => {
    const member = await makeMember(server, organization, `${organization}-ada`);
    const { kind, problems } = await failureOf({ token: member.token });
    expect({ kind, problems }).toEqual({
      kind: 'refused',
      problems: [
        expect.stringMatching(
          /^GPG key .*; the token of the test must belong to an owner, or to a member with permission to manage providers$/,
        ),
      ],
    });
    const team = await makeTeam(server, organization, 'publishers', {
      'organization-access': { 'manage-providers': true },
    });
    const publisher = await makeMember(server, organization, `${organization}-grace`, [team]);
    await published({ token: publisher.token });
    expect(await offered()).toEqual(SYSTEMS);
  });

  it('is refused for a server without this API', async () => {
    proxy.trouble(() => ({ status: 404 }));
    expect(await failureOf({})).toEqual({
      kind: 'usage',
      problems: [expect.stringMatching(/has no private registry: .* does not name tfe.v2 and providers.v1$/)],
    });
  });
});
