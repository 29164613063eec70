import { SITE_SCOPE } from '#api/access';
import { createScimGroup, createScimUser, makeScimClient } from '../../support/scim.js';
import type { MatrixRow, MatrixTarget } from '../matrix.js';
import { site } from '../targets.js';

const discovery: readonly MatrixRow[] = [
  ...['ServiceProviderConfig', 'ResourceTypes', 'Schemas'].map((path): MatrixRow => ({
    route: `GET /scim/v2/${path}`,
    about: site,
    demands: ['provision-users'],
    status: 200,
  })),
  ...[
    ['ResourceTypes', 'User'],
    ['Schemas', 'urn:ietf:params:scim:schemas:core:2.0:User'],
  ].map(([path, id = '']): MatrixRow => ({
    route: `GET /scim/v2/${path}/:id`,
    about: { scope: () => SITE_SCOPE, params: () => ({ id }) },
    demands: ['provision-users'],
    status: 200,
  })),
];

const scimUser: MatrixTarget = {
  scope: () => SITE_SCOPE,
  params: () => ({ id: 'user-0000000000000000' }),
  fresh: async (_, { server, unique }) => {
    const { id } = await createScimUser(await makeScimClient(server), `${unique('scim')}@people.test`);
    return { params: { id } };
  },
};
const scimGroup: MatrixTarget = {
  scope: () => SITE_SCOPE,
  params: () => ({ id: 'scg-0000000000000000' }),
  fresh: async (_, { server, unique }) => {
    const { id } = await createScimGroup(await makeScimClient(server), unique('scim'));
    return { params: { id } };
  },
};

const RESOURCES = [
  {
    path: '/scim/v2/Users',
    about: scimUser,
    body: (name: string) => ({ userName: `${name}@people.test` }),
    trails: {
      create: ['user create', 'user provision'],
      replace: ['user update_provisioning', 'user update'],
      update: ['user update_provisioning'],
      destroy: ['user update_provisioning', 'user suspend', 'user deprovision'],
    },
  },
  {
    path: '/scim/v2/Groups',
    about: scimGroup,
    body: (name: string) => ({ displayName: name }),
    trails: {
      create: ['scim_group create'],
      replace: ['scim_group update'],
      update: ['scim_group update'],
      destroy: ['scim_group destroy'],
    },
  },
] as const;

const resources: readonly MatrixRow[] = RESOURCES.flatMap(({ path, about, body, trails }): MatrixRow[] => {
  const row = { about, demands: ['provision-users'], fresh: true } as const;
  const bodyFor: NonNullable<MatrixRow['bodyFor']> = ({ world }) => body(world.unique('scim'));
  return [
    { route: `GET ${path}`, about: site, demands: ['provision-users'], status: 200 },
    { route: `POST ${path}`, about: site, demands: ['provision-users'], status: 201, trail: trails.create, bodyFor },
    { ...row, route: `GET ${path}/:id`, status: 200 },
    { ...row, route: `PUT ${path}/:id`, status: 200, trail: trails.replace, bodyFor },
    {
      ...row,
      route: `PATCH ${path}/:id`,
      status: 200,
      trail: trails.update,
      bodyFor: ({ world }) => ({
        Operations: [{ op: 'replace', path: 'externalId', value: world.unique('external') }],
      }),
    },
    { ...row, route: `DELETE ${path}/:id`, status: 204, trail: trails.destroy },
  ];
});

export const scim: readonly MatrixRow[] = [...discovery, ...resources];
