import {
  addKey,
  GPG_KEYS,
  makeProvider,
  makeVersion,
  pathOfVersion,
  platformAttributes,
  platformBody,
  providerBody,
  versionBody,
  zipOf,
} from '../../support/registry.js';
import { makeSigner, renewArmor } from '../../support/releases.js';
import { expectStatus, resource, tagBindings } from '../../support/seeds.js';
import type { MatrixWorld } from '../shared-world.js';
import type { Params, MatrixRow, MatrixTarget } from '../matrix.js';
import { inAcme, organization, site, tokenOf } from '../targets.js';

const PROVIDERS = '/organizations/:organization/registry-providers';
const PROVIDER = `${PROVIDERS}/:registryName/:namespace/:name`;
const VERSIONS = `${PROVIDER}/versions`;
const PLATFORMS = `${VERSIONS}/:version/platforms`;

const inPrivate = { organization: 'acme', registryName: 'private', namespace: 'acme' };
const theVersion = { ...inPrivate, name: 'aws', version: '1.0.0' };
const thePlatform = { ...theVersion, os: 'linux', arch: 'amd64' };

/** Creates a provider with a version and a platform, without any files. */
const makeDraft = async ({ server, unique }: MatrixWorld): Promise<Params> => {
  const name = unique('provider');
  await makeProvider(server, 'acme', name);
  await makeVersion(server, 'acme', name, '1.0.0');
  const platforms = `${pathOfVersion('acme', name, '1.0.0')}/platforms`;
  expectStatus(await server.post(platforms, platformBody(platformAttributes(name, '1.0.0'))), 201);
  return { ...thePlatform, name };
};

/** Params for all paths below a provider. */
export const registryProvider: MatrixTarget = {
  scope: inAcme,
  params: (_, { resources }) => ({ ...thePlatform, id: resources.provider }),
  fresh: async (_, world) => ({ params: await makeDraft(world) }),
};

/** Callers that see the organization get 403, whether or not it lists the provider. */
const ofThePublicRegistry: MatrixTarget = {
  scope: inAcme,
  params: () => ({ ...thePlatform, registryName: 'public', namespace: 'hashicorp' }),
};

const reads: readonly MatrixRow[] = [
  {
    route: `GET ${PROVIDERS}`,
    about: organization,
    demands: ['read-providers'],
    status: 200,
    shows: () => ['aws'],
  },
  ...[PROVIDER, '/registry-providers/:id', `${VERSIONS}/:version`, `${PLATFORMS}/:os/:arch`].map((path): MatrixRow => ({
    route: `GET ${path}`,
    about: registryProvider,
    demands: ['read-providers'],
    status: 200,
  })),
  {
    route: `GET ${VERSIONS}`,
    about: registryProvider,
    demands: ['read-providers'],
    status: 200,
    shows: () => ['1.0.0'],
    nameOf: ({ attributes }) => attributes.version as string,
  },
  {
    route: `GET ${PLATFORMS}`,
    about: registryProvider,
    demands: ['read-providers'],
    status: 200,
    shows: () => ['linux'],
    nameOf: ({ attributes }) => attributes.os as string,
  },
];

const changes: readonly MatrixRow[] = [
  {
    route: `POST ${PROVIDERS}`,
    about: organization,
    demands: ['manage-providers'],
    status: 201,
    trail: ['registry_provider create'],
    bodyFor: ({ world }) => providerBody('acme', world.unique('made')),
  },
  {
    route: `POST ${VERSIONS}`,
    about: registryProvider,
    demands: ['manage-providers'],
    status: 201,
    trail: ['registry_provider_version create'],
    fresh: true,
    body: versionBody('1.1.0'),
  },
  {
    route: `POST ${PLATFORMS}`,
    about: registryProvider,
    demands: ['manage-providers'],
    status: 201,
    trail: ['registry_provider_platform create'],
    fresh: true,
    bodyFor: ({ params: { name = '' } }) => platformBody(platformAttributes(name, '1.0.0', 'darwin', 'arm64')),
  },
  {
    route: `DELETE ${PLATFORMS}/:os/:arch`,
    about: registryProvider,
    demands: ['manage-providers'],
    status: 204,
    trail: ['registry_provider_platform destroy'],
    fresh: true,
  },
  {
    route: `DELETE ${VERSIONS}/:version`,
    about: registryProvider,
    demands: ['manage-providers'],
    status: 204,
    trail: ['registry_provider_platform destroy', 'registry_provider_version destroy'],
    fresh: true,
  },
  {
    route: `DELETE ${PROVIDER}`,
    about: registryProvider,
    demands: ['manage-providers'],
    status: 204,
    trail: ['registry_provider destroy'],
    fresh: true,
  },
];

const publicBody = (name: string): object =>
  resource('registry-providers', { name, namespace: 'hashicorp', 'registry-name': 'public' });

/** A provider of the public registry that the organization lists. */
const publicProvider: MatrixTarget = {
  scope: inAcme,
  params: () => ({ organization: 'acme', registryName: 'public', namespace: 'hashicorp', name: 'random' }),
  fresh: async (_, { server, unique }) => {
    const name = unique('listed');
    expectStatus(await server.post('/api/v2/organizations/acme/registry-providers', publicBody(name)), 201);
    return { params: { organization: 'acme', registryName: 'public', namespace: 'hashicorp', name } };
  },
};

const tagged: readonly MatrixRow[] = [
  {
    route: 'GET /registry-providers/:id/tag-bindings',
    about: registryProvider,
    demands: ['read-providers'],
    status: 200,
  },
  {
    route: `PATCH ${PROVIDER}`,
    about: registryProvider,
    demands: ['manage-providers'],
    status: 200,
    trail: ['registry_provider update'],
    fresh: true,
    body: resource('registry-providers', {}, { 'tag-bindings': tagBindings({ env: 'prod' }) }),
  },
];

const publicProviders: readonly MatrixRow[] = [
  {
    route: `GET ${PROVIDER}`,
    condition: 'public',
    about: publicProvider,
    demands: ['read-providers'],
    status: 200,
    setUp: ({ server }) => server.post('/api/v2/organizations/acme/registry-providers', publicBody('random')),
    tearDown: ({ server }) => server.delete('/api/v2/organizations/acme/registry-providers/public/hashicorp/random'),
  },
  {
    route: `POST ${PROVIDERS}`,
    condition: 'public',
    about: organization,
    demands: ['manage-providers'],
    status: 201,
    trail: ['registry_provider create'],
    bodyFor: ({ world }) => publicBody(world.unique('listed')),
  },
  {
    route: `DELETE ${PROVIDER}`,
    condition: 'public',
    about: publicProvider,
    demands: ['manage-providers'],
    status: 204,
    trail: ['registry_provider destroy'],
    fresh: true,
  },
];

/** Versions and platforms of public providers are refused with 403, not 404. */
const versionsOfPublicProviders: readonly MatrixRow[] = [
  ...[VERSIONS, `${VERSIONS}/:version`, PLATFORMS, `${PLATFORMS}/:os/:arch`].map((path): MatrixRow => ({
    route: `GET ${path}`,
    condition: 'public',
    about: ofThePublicRegistry,
    demands: ['read-providers'],
    status: 403,
  })),
  ...[`${VERSIONS}/:version`, `${PLATFORMS}/:os/:arch`].map((path): MatrixRow => ({
    route: `DELETE ${path}`,
    condition: 'public',
    about: ofThePublicRegistry,
    demands: ['read-providers'],
    status: 403,
    trail: [],
  })),
  {
    route: `POST ${VERSIONS}`,
    condition: 'public',
    about: ofThePublicRegistry,
    demands: ['read-providers'],
    status: 403,
    trail: [],
    body: versionBody('1.1.0'),
  },
  {
    route: `POST ${PLATFORMS}`,
    condition: 'public',
    about: ofThePublicRegistry,
    demands: ['read-providers'],
    status: 403,
    trail: [],
    body: platformBody(platformAttributes('aws', '1.0.0', 'darwin', 'arm64')),
  },
];

/** An RSA key takes 0.2 s to make. */
const QUICK = { type: 'ecc', curve: 'ed25519Legacy' } as const;

/** The GPG key of the organization, and a new key for each caller. */
const gpgKey: MatrixTarget = {
  scope: inAcme,
  params: (_, { resources }) => ({ namespace: 'acme', keyId: resources.gpgKey }),
  fresh: async (_, { server }) => {
    const signer = await makeSigner({ keyType: QUICK });
    expectStatus(await addKey(server, 'acme', signer), 201);
    return { params: { namespace: 'acme', keyId: signer.keyId } };
  },
};
/** The same as `gpgKey`, with the text `armor` that renews the new key. */
const renewedGpgKey: MatrixTarget = {
  ...gpgKey,
  fresh: async (_, { server }) => {
    const signer = await makeSigner({ keyType: QUICK });
    expectStatus(await addKey(server, 'acme', signer), 201);
    const armor = await renewArmor(signer, 10 * 365 * 24 * 60 * 60);
    return { params: { namespace: 'acme', keyId: signer.keyId, armor } };
  },
};
const inRival: MatrixTarget['scope'] = (_, { rival }) => ({ organization: rival.id });

const keys: readonly MatrixRow[] = [
  {
    route: `GET ${GPG_KEYS}`,
    about: { ...site, scope: inAcme },
    demands: 'any token',
    status: 200,
    query: () => 'filter[namespace]=acme',
    shows: ({ caller, world, may }) => (may('read-providers', inAcme(caller, world)) ? [world.resources.gpgKey] : []),
    nameOf: ({ attributes }) => attributes['key-id'] as string,
  },
  { route: `GET ${GPG_KEYS}/:namespace/:keyId`, about: gpgKey, demands: ['read-providers'], status: 200 },
  {
    route: `POST ${GPG_KEYS}`,
    about: { ...site, scope: inAcme },
    demands: ['manage-providers'],
    status: 201,
    trail: ['gpg_key create'],
    before: ({ world: { server, resources } }) => server.delete(`${GPG_KEYS}/acme/${resources.spareKey}`),
    bodyFor: ({ world: { resources } }) =>
      resource('gpg-keys', { namespace: 'acme', 'ascii-armor': resources.spareArmor }),
  },
  {
    route: `PATCH ${GPG_KEYS}/:namespace/:keyId`,
    condition: 'to its own project',
    about: gpgKey,
    demands: ['manage-providers'],
    status: 200,
    trail: [],
    inert: true,
    body: resource('gpg-keys', { namespace: 'acme' }),
  },
  {
    route: `PATCH ${GPG_KEYS}/:namespace/:keyId`,
    condition: 'to another organization',
    about: gpgKey,
    demands: ['manage-providers'],
    status: ({ caller, world, may }) => (may('manage-providers', inRival(caller, world)) ? 200 : 403),
    trail: ['gpg_key destroy', 'gpg_key create'],
    fresh: true,
    body: resource('gpg-keys', { namespace: 'rival' }),
  },
  {
    route: `PATCH ${GPG_KEYS}/:namespace/:keyId`,
    condition: 'to a later text',
    about: renewedGpgKey,
    demands: ['manage-providers'],
    status: 200,
    trail: ['gpg_key update'],
    fresh: true,
    bodyFor: ({ params, world: { resources } }) =>
      resource('gpg-keys', { 'ascii-armor': params['armor'] ?? resources.spareArmor }),
  },
  {
    route: `DELETE ${GPG_KEYS}/:namespace/:keyId`,
    about: gpgKey,
    demands: ['manage-providers'],
    status: 204,
    trail: ['gpg_key destroy'],
    fresh: true,
  },
];

const CLI = '/api/registry/v1/providers/:namespace/:name';

const installing: readonly MatrixRow[] = [`${CLI}/versions`, `${CLI}/:version/download/:os/:arch`].map(
  (path): MatrixRow => ({
    route: `GET ${path}`,
    about: {
      scope: inAcme,
      params: () => ({ namespace: 'acme', name: 'aws', version: '1.0.0', os: 'linux', arch: 'amd64' }),
    },
    demands: ['read-providers'],
    status: 200,
  }),
);

const UPLOAD = '/api/registry/private/v2/uploads/:token';
const DOWNLOAD = '/api/registry/private/v2/files/:token/:filename';

const unsigned: MatrixTarget = { ...site, params: () => ({ token: 'not.signed', filename: 'not.zip' }) };

/** A platform that waits for its upload. Any caller may use the link, which replaces the permission. */
const awaited: MatrixTarget = {
  ...unsigned,
  fresh: async (_, { server, unique }) => {
    const name = unique('provider');
    await makeProvider(server, 'acme', name);
    await makeVersion(server, 'acme', name, '1.0.0');
    // All callers send the same body, so all platforms have the same checksum.
    const { filename, ...facts } = platformAttributes('aws', '1.0.0');
    const platform = platformBody({ ...facts, filename: filename.replace('aws', name) });
    const response = await server.post(`${pathOfVersion('acme', name, '1.0.0')}/platforms`, platform);
    return {
      params: { token: tokenOf(expectStatus(response, 201).body.data.links['provider-binary-upload'] as string) },
    };
  },
};

const stored: MatrixTarget = {
  ...site,
  params: (_, { resources }) => {
    const [token = '', filename = ''] = new URL(resources.archive).pathname.split('/').slice(-2);
    return { token, filename };
  },
};

const files: readonly MatrixRow[] = [
  {
    route: `PUT ${UPLOAD}`,
    about: awaited,
    demands: 'anybody',
    status: 200,
    trail: ['registry_provider_platform upload'],
    fresh: true,
    body: zipOf('aws', '1.0.0'),
  },
  {
    route: `PUT ${UPLOAD}`,
    condition: 'with an invalid signature',
    about: unsigned,
    demands: 'anybody',
    status: 403,
    trail: [],
    body: 'bytes',
  },
  { route: `GET ${DOWNLOAD}`, about: stored, demands: 'anybody', status: 200 },
  {
    route: `GET ${DOWNLOAD}`,
    condition: 'with an invalid signature',
    about: unsigned,
    demands: 'anybody',
    status: 403,
  },
];

export const registry: readonly MatrixRow[] = [
  ...reads,
  ...changes,
  ...tagged,
  ...publicProviders,
  ...versionsOfPublicProviders,
  ...keys,
  ...installing,
  ...files,
];
