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

let way: FaultyProxy;
let server: TestServer;
let signer: Signer;
let dist: Dist;
let organization: string;
let organizations = 0;

beforeAll(async () => {
  way = await startFaultyProxy();
  server = await startTestServer({ env: { CADASTRE_PUBLIC_URL: way.url } });
  way.lead(server.url);
  signer = await makeSigner();
});
afterAll(async () => {
  await way.close();
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
  way.trouble(() => null);
  way.passed.length = 0;
  await dist.remove();
});

const DEMO = { name: 'demo', version: '1.0.0' };
const zipFor = (system: string): string => `terraform-provider-demo_1.0.0_${system}.zip`;

/** Not the same in any two: so each has a checksum of its own. */
const pack = async (): Promise<void> => {
  for (const system of SYSTEMS) await dist.pack(DEMO, system, randomBytes(200_000));
};

type Attempt = Partial<PrepareOptions> & {
  readonly token?: string;
  readonly patience?: RetryPolicy;
  readonly signal?: AbortSignal;
  readonly to?: string;
  /** Hears how much of a zip has been sent. */
  readonly sent?: (filename: string, bytes: number) => void;
};

let said: string[];

const published = async ({
  token = server.adminToken,
  patience = PATIENT,
  signal = new AbortController().signal,
  to = organization,
  sent = () => {},
  ...wanted
}: Attempt = {}): Promise<PublishResult> => {
  said = [];
  const print = (line: string): void => void said.push(line);
  const release = await prepareRelease(
    { name: 'demo', folder: dist.path, key: join(dist.path, 'private.asc'), ...wanted },
    new Date(),
  );
  const api = new ApiClient(new HttpClient({ signal, print, patience }), new URL(way.url), {
    secret: token,
    source: 'the test',
  });
  const registry = await ProviderRegistryClient.find(api, to, 'demo');
  const progress = { print, uploads: () => ({ sent, done: () => {}, end: () => {} }) };
  return publishRelease({ release, registry, keyId: wanted.keyId, progress, now: () => new Date() });
};

const failureOf = (attempt: Attempt): Promise<{ kind: string; problems: readonly string[] }> =>
  published(attempt).then(
    () => ({ kind: 'none', problems: [] }),
    ({ kind, problems }: CommandError) => ({ kind, problems }),
  );

const writes = (): string[] =>
  way.passed
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

describe('a release that is published', () => {
  it('brings along all that it stands on, and can be installed', async () => {
    expect(await published()).toMatchObject({
      source: `${new URL(way.url).host}/${organization}/demo`,
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
    expect(said).toEqual([
      `Added the GPG key ${signer.keyId} to ${organization}`,
      `Made the provider ${organization}/demo`,
      `Made version 1.0.0, to be signed by ${signer.keyId}`,
    ]);
  });

  it('is offered to nobody before its last file is there, which is the signature', async () => {
    let before: unknown = null;
    way.trouble(async ({ method }) => {
      const isLast = method === 'PUT' && way.passed.filter((one) => one.method === 'PUT').length === SYSTEMS.length + 1;
      if (isLast) before = await offered();
      return null;
    });
    await published();
    expect(before).toEqual([]);
  });

  it('is left alone when it is published again', async () => {
    await published();
    way.passed.length = 0;
    expect((await published()).uploaded).toEqual([]);
    expect(writes()).toEqual([]);
  });

  it('needs no key here where the organization has the one that it is signed with', async () => {
    await dist.sum(DEMO, signer);
    expect(await failureOf({ key: undefined })).toEqual({
      kind: 'refused',
      problems: [expect.stringMatching(`^${organization} has no GPG key. Give the one .*: --public-key FILE`)],
    });
    await addGpgKey(server, organization, await makeSigner());
    expect((await failureOf({ key: undefined })).problems).toEqual([
      expect.stringMatching(
        `No GPG key of ${organization} fits: The signature was made by the key ${signer.keyId}, not by`,
      ),
    ]);
    await addGpgKey(server, organization, signer);
    expect(await published({ key: undefined })).toMatchObject({ keyId: signer.keyId });
  });

  it('is proved by flags where the server says nothing of usable', async () => {
    way.trouble(({ method, path }) =>
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

  it('and is given out otherwise by the server is told', async () => {
    way.trouble(({ path }) =>
      path.includes('/download/') ? { change: (body) => ({ ...body, shasum: 'f'.repeat(64) }) } : null,
    );
    expect(await failureOf({})).toEqual({
      kind: 'refused',
      problems: ['clients are given another zip of version 1.0.0 than this release has'],
    });
  });
});

describe('a publication that is cut', () => {
  it('in the middle of a zip is gone on with by the same command', async () => {
    let zips = 0;
    way.trouble(({ method }) => (method === 'PUT' && (zips += 1) === 3 ? { cutAfter: 70_000 } : null));
    expect(await failureOf({ patience: IMPATIENT })).toMatchObject({ kind: 'unreachable' });
    expect(await offered()).toEqual([]);

    const arrived = way.passed.filter(({ method, status }) => method === 'PUT' && status === 200).length;
    way.passed.length = 0;
    const { uploaded } = await published();
    expect(uploaded).toHaveLength(SYSTEMS.length + 2 - arrived);
    expect(await offered()).toEqual(SYSTEMS);
  });

  it('by who started it, at any time, is gone on with', async () => {
    const controller = new AbortController();
    const stopped = new CommandError('stopped', ['Stopped']);
    const sent = (_: string, bytes: number): void => {
      if (bytes > 0) controller.abort(stopped);
    };
    expect(await failureOf({ signal: controller.signal, sent })).toEqual({ kind: 'stopped', problems: ['Stopped'] });
    await published();
    expect(await offered()).toEqual(SYSTEMS);
  });

  it('after each thing that it does, before it hears of it, does each once', async () => {
    const seen = new Set<string>();
    way.trouble(({ method, path }) => {
      if (method === 'GET' || seen.has(path)) return null;
      seen.add(path);
      return { swallow: true };
    });
    await published();
    expect(await offered()).toEqual(SYSTEMS);
    const platforms = expectStatus(await server.get(`${versionPath()}/platforms`), 200).body.data;
    expect(platforms).toHaveLength(SYSTEMS.length);
  });

  it('by a server that is busy, away or broken for a while goes on by itself', async () => {
    const troubles = [{ status: 503 }, { status: 429 }, { cut: true }, { status: 500 }];
    const left = new Map<string, (typeof troubles)[number][]>();
    way.trouble(({ method, path }) => {
      const key = `${method} ${path}`;
      if (!left.has(key)) left.set(key, [...troubles]);
      return left.get(key)?.pop();
    });
    await published();
    expect(await offered()).toEqual(SYSTEMS);
    const reasons = said.map((line) => /: ([^:]*); trying again$/.exec(line)?.[1] ?? '');
    for (const status of [500, 503]) expect(reasons).toContain(`the server answers ${status}`);
    expect(reasons).toContain('the server is asked too much at the moment');
    expect(reasons.filter((reason) => /closed|hang up|ECONNRESET|EPIPE/.test(reason))).not.toEqual([]);
    expect(said.join()).not.toContain('/uploads/');
  });

  it('by a server that stays away is told so', async () => {
    way.trouble(() => ({ status: 503 }));
    expect(await failureOf({})).toEqual({
      kind: 'unreachable',
      problems: [`${new URL(way.url).host}: discovery: the server answers 503`],
    });
  });
});

describe('what is refused', () => {
  it('is a release that differs from what is published, before anything is sent', async () => {
    await published();
    await dist.pack(DEMO, 'linux_amd64', randomBytes(10));
    await dist.pack(DEMO, 'freebsd_amd64', randomBytes(10));
    way.passed.length = 0;
    const { kind, problems } = await failureOf({ protocols: ['6.0'] });
    expect({ kind, problems }).toEqual({
      kind: 'refused',
      problems: [
        'Version 1.0.0 is there already, and is not this one:',
        '  it is there with the protocols 5.0, this release has 6.0',
        expect.stringMatching(`^  ${zipFor('linux_amd64')} is there with checksum .*, this one has`),
        '  its SHA256SUMS is there, and differs',
        'What is published is not changed: give the release another version, or delete the one that is there',
      ],
    });
    expect(writes()).toEqual([]);
  });

  it('is an organization that is not there, or not to be seen', async () => {
    expect(await failureOf({ to: 'nobody' })).toEqual({
      kind: 'refused',
      problems: [
        `There is no organization nobody at ${new URL(way.url).host}, or the token of the test may not see it`,
      ],
    });
  });

  it('is a token that the server does not know; it is not told', async () => {
    const token = 'nobody.atlasv1.knows';
    const { kind, problems } = await failureOf({ token });
    expect({ kind, problems }).toEqual({
      kind: 'refused',
      problems: [`${new URL(way.url).host} does not know the token of the test`],
    });
  });

  it('is a member who may not manage providers; one of a team that may is not', async () => {
    const member = await makeMember(server, organization, `${organization}-ada`);
    const { kind, problems } = await failureOf({ token: member.token });
    expect({ kind, problems }).toEqual({
      kind: 'refused',
      problems: [
        expect.stringMatching(
          /^GPG key .*; the token of the test must be that of an owner, or of somebody who may manage providers$/,
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

  it('is a server that is none of this API', async () => {
    way.trouble(() => ({ status: 404 }));
    expect(await failureOf({})).toEqual({
      kind: 'usage',
      problems: [expect.stringMatching(/has no private registry: .* does not name tfe.v2 and providers.v1$/)],
    });
  });
});
