import { describe, it } from '@jest/globals';
import {
  addKey,
  GPG_KEYS,
  makeProvider,
  makeVersion,
  pathOfProviders,
  pathOfVersion,
  pathOfVersions,
  platformAttributes,
  platformBody,
  versionBody,
} from '../../support/registry.js';
import { makeSigner } from '../../support/releases.js';
import { expectStatus, resource } from '../../support/seeds.js';
import { pathOf } from '../../support/state-file.js';
import type { TestServer } from '../../support/server.js';
import { describeRefusals, type BadRequestCase, type Fixture } from './bad-requests.js';

/** Creates a provider with a version in each organization, and a platform and a GPG key in acme. */
const withProviders = async (server: TestServer): Promise<Fixture> => {
  const signer = await makeSigner();
  expectStatus(await addKey(server, 'acme', signer), 201);
  for (const organization of ['acme', 'other']) {
    await makeProvider(server, organization, 'aws');
    await makeVersion(server, organization, 'aws', '1.0.0');
  }
  const platforms = `${VERSION}/platforms`;
  const platform = expectStatus(await server.post(platforms, platformBody(platformAttributes('aws', '1.0.0'))), 201)
    .body.data;
  const link = pathOf(platform.links['provider-binary-upload'] as string);
  const [, path = '', payload = '', signature = ''] = /^(.*\/)([^/.]+)\.([^/.]+)$/.exec(link) ?? [];
  const [subject, expires] = JSON.parse(Buffer.from(payload, 'base64url').toString()) as [string, number];
  const signed = (claim: unknown): string =>
    `${path}${Buffer.from(JSON.stringify(claim)).toString('base64url')}.${signature}`;
  return {
    key: signer.keyId,
    armor: JSON.stringify(signer.armor).slice(1, -1),
    upload: link,
    // Each of these links differs from the signed link in one part.
    otherFile: signed([subject.replace(/binary (\S+) .*$/, 'shasums $1'), expires]),
    otherUploader: signed([subject.replace(/^(\S+) \S+/, '$1 user-of-somebody-else'), expires]),
    otherTime: signed([subject, expires + 1]),
    asDownload: `${link.replace('/uploads/', '/files/')}/${platformAttributes('aws', '1.0.0').filename}`,
  };
};

const VERSIONS = pathOfVersions('acme', 'aws');
const VERSION = pathOfVersion('acme', 'aws', '1.0.0');
const PROVIDERS = pathOfProviders('acme');

const { expectRefusal } = describeRefusals({}, withProviders);

const at = (name: string): string => `/data/attributes/${name}`;

/** Returns bodies that are refused by every route that creates or changes a resource. */
const nonsense = (send: BadRequestCase['send']): readonly BadRequestCase[] => [
  { title: 'no body', send, status: 422, problems: [['/data']] },
  { title: 'no JSON', send, body: '{', status: 400 },
  { title: 'a list', send, body: [], status: 422 },
  { title: 'data that is a list', send, body: { data: [] }, status: 422, problems: [['/data']] },
  { title: 'data that is null', send, body: { data: null }, status: 422, problems: [['/data']] },
  { title: 'no attributes', send, body: { data: {} }, status: 422, problems: [['/data/attributes']] },
  { title: 'attributes that are a text', send, body: { data: { attributes: 'x' } }, status: 422 },
  { title: 'another type', send, body: resource('workspaces', {}), status: 422 },
];

describe('a body that is no JSON:API resource', () => {
  it.each<BadRequestCase>(
    (
      [
        `POST ${PROVIDERS}`,
        `POST ${VERSIONS}`,
        `POST ${VERSION}/platforms`,
        `POST ${GPG_KEYS}`,
        `PATCH ${GPG_KEYS}/acme/{key}`,
      ] as const
    ).flatMap(nonsense),
  )('is refused for $title: $send', async (bad) => {
    await expectRefusal(bad);
  });
});

describe('a wrong request to the registry', () => {
  const provider = (attributes: object) =>
    resource('registry-providers', { name: 'new', namespace: 'acme', 'registry-name': 'private', ...attributes });
  const platform = (attributes: object) =>
    platformBody({ ...platformAttributes('aws', '1.0.0', 'darwin', 'arm64'), ...attributes });

  it.each<BadRequestCase>([
    {
      title: 'a name that is taken',
      send: `POST ${PROVIDERS}`,
      body: provider({ name: 'aws' }),
      status: 422,
      problems: [[at('name'), 'Name has already been taken']],
    },
    {
      title: 'a name with a path',
      send: `POST ${PROVIDERS}`,
      body: provider({ name: '../aws' }),
      status: 422,
      problems: [[at('name')]],
    },
    {
      title: 'a very long name',
      send: `POST ${PROVIDERS}`,
      body: provider({ name: 'x'.repeat(100_000) }),
      status: 422,
      problems: [[at('name')]],
    },
    {
      title: 'another namespace',
      send: `POST ${PROVIDERS}`,
      body: provider({ namespace: 'other' }),
      status: 422,
      problems: [[at('namespace')]],
    },
    {
      title: 'a registry name that is an object',
      send: `POST ${PROVIDERS}`,
      body: provider({ 'registry-name': {} }),
      status: 422,
      problems: [[at('registry-name')]],
    },
    {
      title: 'a public provider without a namespace',
      send: `POST ${PROVIDERS}`,
      body: provider({ 'registry-name': 'public', namespace: '' }),
      status: 422,
    },
    {
      title: 'a caller of another organization',
      send: `POST ${PROVIDERS}`,
      body: provider({}),
      as: '{otherToken}',
      status: 404,
    },
    { title: 'no token', send: `POST ${PROVIDERS}`, body: provider({}), as: null, status: 401 },
    { title: 'a fractional page size', send: `GET ${PROVIDERS}?page[size]=0.5`, status: 400 },
    {
      title: 'an unknown include',
      send: `GET ${PROVIDERS}?include=owner`,
      status: 400,
      problems: [[null, /include parameter/]],
    },
    { title: 'a NUL in the path', send: `GET ${PROVIDERS}/private/acme/a%00`, status: 400 },
    { title: 'an encoded path in the path', send: `GET ${PROVIDERS}/private/acme/..%2Fother`, status: 404 },
    { title: 'an unknown id', send: 'GET /api/v2/registry-providers/prov-nowhere', status: 404 },
    {
      title: 'a version that is taken',
      send: `POST ${VERSIONS}`,
      body: versionBody('1.0.0+build'),
      status: 422,
      problems: [[at('version'), 'Version has already been taken']],
    },
    {
      title: 'an invalid version',
      send: `POST ${VERSIONS}`,
      body: versionBody('latest'),
      status: 422,
      problems: [[at('version')]],
    },
    {
      title: 'a very long version',
      send: `POST ${VERSIONS}`,
      body: versionBody(`1.0.0-${'9'.repeat(100_000)}`),
      status: 422,
      problems: [[at('version')]],
    },
    {
      title: 'a version number that is too large',
      send: `POST ${VERSIONS}`,
      body: versionBody('1.0.99999999999999999999'),
      status: 422,
      problems: [[at('version')]],
    },
    {
      title: 'half of a surrogate pair',
      send: `POST ${VERSIONS}`,
      body: `{"data":{"attributes":{"version":"1.0.1","key-id":"\\ud800","protocols":null}}}`,
      status: 422,
      problems: [[at('key-id')]],
    },
    {
      title: 'protocols that are an object',
      send: `POST ${VERSIONS}`,
      body: versionBody('1.0.1', { protocols: { 0: '5.0' } }),
      status: 422,
      problems: [[at('protocols')]],
    },
    {
      title: 'ten thousand protocols',
      send: `POST ${VERSIONS}`,
      body: versionBody('1.0.1', { protocols: Array(10_000).fill('7.0') }),
      status: 422,
    },
    {
      title: 'an unknown provider',
      send: `POST ${pathOfVersions('acme', 'none')}`,
      body: versionBody('1.0.1'),
      status: 404,
    },
    {
      title: 'a provider of another organization',
      send: `POST ${VERSIONS}`,
      body: versionBody('1.0.1'),
      as: '{otherToken}',
      status: 404,
    },
    {
      title: 'a platform that is taken',
      send: `POST ${VERSION}/platforms`,
      body: platformBody(platformAttributes('aws', '1.0.0')),
      status: 422,
      problems: [[at('os')]],
    },
    {
      title: 'a file name that is taken',
      send: `POST ${VERSION}/platforms`,
      body: platform({ filename: platformAttributes('aws', '1.0.0').filename }),
      status: 422,
      problems: [[at('filename'), 'Filename has already been taken']],
    },
    {
      title: 'a file name with a path',
      send: `POST ${VERSION}/platforms`,
      body: platform({ filename: '../../x.zip' }),
      status: 422,
      problems: [[at('filename')]],
    },
    {
      title: 'a checksum followed by a file name',
      send: `POST ${VERSION}/platforms`,
      body: platform({ shasum: `${'a'.repeat(64)}  aws.zip` }),
      status: 422,
      problems: [[at('shasum')]],
    },
    {
      title: 'a checksum that is a number',
      send: `POST ${VERSION}/platforms`,
      body: platform({ shasum: 1e63 }),
      status: 422,
      problems: [[at('shasum')]],
    },
    { title: 'an unknown platform', send: `DELETE ${VERSION}/platforms/plan9/amd64`, status: 404 },
    {
      title: 'a platform of another organization',
      send: `DELETE ${VERSION}/platforms/linux/amd64`,
      as: '{otherToken}',
      status: 404,
    },
    {
      title: 'a key that exists',
      send: `POST ${GPG_KEYS}`,
      body: `{"data":{"attributes":{"namespace":"acme","ascii-armor":"{armor}"}}}`,
      status: 422,
      problems: [[at('key-id'), 'Key id has already been taken']],
    },
    {
      title: 'a deletion by another organization',
      send: `DELETE ${GPG_KEYS}/acme/{key}`,
      as: '{otherToken}',
      status: 404,
    },
    {
      title: 'a change by another organization',
      send: `PATCH ${GPG_KEYS}/acme/{key}`,
      body: resource('gpg-keys', { namespace: 'acme' }),
      as: '{otherToken}',
      status: 404,
    },
    {
      title: 'an unknown namespace',
      send: `PATCH ${GPG_KEYS}/acme/{key}`,
      body: resource('gpg-keys', { namespace: 'nowhere' }),
      status: 403,
    },
    {
      title: 'a list without a namespace',
      send: `GET ${GPG_KEYS}`,
      status: 400,
      problems: [[null, 'filter[namespace] is required']],
    },
  ])('is refused for $title: $send', async (bad) => {
    await expectRefusal(bad);
  });

  it.each<BadRequestCase>([
    { title: 'without a signature', send: 'PUT /api/registry/private/v2/uploads/nonsense', status: 403 },
    { title: 'for another file', send: 'PUT {otherFile}', status: 403 },
    { title: 'for another uploader', send: 'PUT {otherUploader}', status: 403 },
    { title: 'with a later expiry', send: 'PUT {otherTime}', status: 403 },
    { title: 'that is valid for uploads only', send: 'GET {asDownload}', status: 403 },
  ])('is refused for a link $title: $send', async (bad) => {
    await expectRefusal({ ...bad, ...(bad.send.startsWith('PUT') ? { body: new Uint8Array([1]) } : {}), as: null });
  });

  it.each([
    ['other bytes than were declared', new Uint8Array([1, 2, 3])],
    ['nothing', new Uint8Array(0)],
  ])('is refused for an upload of %s to a valid link', async (_, body) => {
    await expectRefusal({ title: '', send: 'PUT {upload}', body, as: null, status: 422 });
  });
});
