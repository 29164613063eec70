import { SITE_SCOPE } from '#api/access';
import { createServiceKey } from '../../../libs/identity/identity-providers/saml/certificates.crypto.js';
import { expectStatus, resource } from '../../support/seeds.js';
import type { MatrixRow, MatrixTarget } from '../matrix.js';
import type { MatrixWorld } from '../shared-world.js';
import { site } from '../targets.js';

const describeProvider = ({ unique }: MatrixWorld): object =>
  resource('identity-providers', {
    name: unique('provider'),
    issuer: 'https://id.example.com',
    'client-id': 'cadastre',
    // The server checks only enabled providers.
    enabled: false,
  });

const makeProvider = async (world: MatrixWorld): Promise<string> => {
  const response = await world.server.post('/api/v2/admin/identity-providers', describeProvider(world));
  return expectStatus(response, 201).body.data.id as string;
};

/** Providers that all readers share. */
const shared = { id: 'idp-0000000000000000', saml: 'idp-0000000000000001' };

const provider: MatrixTarget = {
  scope: () => SITE_SCOPE,
  params: () => ({ id: shared.id }),
  fresh: async (_, world) => ({ params: { id: await makeProvider(world) } }),
};

const makeSamlProvider = async ({ server, unique }: MatrixWorld): Promise<string> => {
  const { certificate } = await createServiceKey(new Date());
  const name = unique('saml');
  const body = resource('identity-providers', {
    name,
    protocol: 'saml',
    issuer: `urn:${name}`,
    'sign-in-url': 'https://id.example.com/sso',
    certificates: [certificate],
    enabled: true,
  });
  return expectStatus(await server.post('/api/v2/admin/identity-providers', body), 201).body.data.id as string;
};

const samlProvider: MatrixTarget = {
  scope: () => SITE_SCOPE,
  params: () => ({ provider: shared.saml }),
};

const demands = ['manage-identity-providers'] as const;

/** Creates the providers that readers share. */
export const setUpSharedProvider = async (world: MatrixWorld): Promise<void> => {
  shared.id = await makeProvider(world);
  shared.saml = await makeSamlProvider(world);
};

/** Tokens of the provider need both permissions. */
const tokenDemands = [...demands, 'manage-scim-tokens'] as const;

const withShared: Pick<MatrixRow, 'setUp' | 'tearDown'> = {
  setUp: setUpSharedProvider,
  tearDown: async ({ server }) => {
    for (const id of [shared.id, shared.saml]) await server.delete(`/api/v2/admin/identity-providers/${id}`);
  },
};

export const identityProviderRows: readonly MatrixRow[] = [
  { route: 'GET /sign-in/saml/:provider', about: samlProvider, demands: 'anybody', status: 303, ...withShared },
  {
    route: 'GET /sign-in/saml/:provider/metadata',
    about: samlProvider,
    demands: 'anybody',
    status: 200,
    ...withShared,
  },
  { route: 'GET /admin/identity-providers', about: site, demands, status: 200 },
  {
    route: 'POST /admin/identity-providers',
    about: site,
    demands,
    status: 201,
    trail: ['identity_provider create'],
    bodyFor: ({ world }) => describeProvider(world),
  },
  { route: 'GET /admin/identity-providers/:id', about: provider, demands, status: 200, ...withShared },
  {
    route: 'PATCH /admin/identity-providers/:id',
    about: provider,
    demands,
    status: 200,
    trail: ['identity_provider update'],
    fresh: true,
    ...withShared,
    bodyFor: ({ world }) => resource('identity-providers', { name: world.unique('renamed') }),
  },
  {
    route: 'DELETE /admin/identity-providers/:id',
    about: provider,
    demands,
    status: 204,
    trail: ['identity_provider destroy'],
    fresh: true,
    ...withShared,
  },
  {
    route: 'GET /admin/identity-providers/:id/scim-tokens',
    about: provider,
    demands: tokenDemands,
    status: 200,
    ...withShared,
  },
  {
    route: 'POST /admin/identity-providers/:id/scim-tokens',
    about: provider,
    demands: tokenDemands,
    status: 201,
    trail: ['authentication_token create'],
    fresh: true,
    bodyFor: ({ world }) => resource('authentication-tokens', { description: world.unique('token') }),
  },
];
