import { SITE_SCOPE } from '#api/access';
import { resource } from '../../support/seeds.js';
import type { MatrixRow, MatrixTarget } from '../matrix.js';
import { inAcme, onTheProject, organization, project, site } from '../targets.js';

const founding: readonly MatrixRow[] = [
  {
    route: 'GET /organizations',
    about: site,
    demands: 'any token',
    status: 200,
    nameOf: ({ id }) => id as string,
    shows: ({ may, world: { acme, rival } }) =>
      [acme, rival].filter(({ id }) => may('list-organization', { organization: id })).map(({ name }) => name),
  },
  {
    route: 'POST /organizations',
    about: site,
    demands: ['create-organization'],
    status: 201,
    trail: ['organization create', 'project create', 'team create', 'team add_member', 'organization_user create'],
    bodyFor: ({ world }) => resource('organizations', { name: world.unique('founded'), email: 'ops@acme.test' }),
  },
];

const ORGANIZATION = '/organizations/:organization';

const one: readonly MatrixRow[] = [
  { route: `GET ${ORGANIZATION}`, about: organization, demands: ['read-organization'], status: 200 },
  {
    route: `PATCH ${ORGANIZATION}`,
    about: organization,
    demands: ['update-organization'],
    status: 200,
    trail: ['organization update'],
    bodyFor: ({ world }) => resource('organizations', { email: `${world.unique('ops')}@acme.test` }),
  },
  {
    route: `DELETE ${ORGANIZATION}`,
    about: organization,
    demands: ['delete-organization'],
    status: 204,
    trail: ['organization destroy'],
    fresh: true,
  },
  { route: `GET ${ORGANIZATION}/entitlement-set`, about: organization, demands: ['read-entitlements'], status: 200 },
  { route: `GET ${ORGANIZATION}/feature-sets`, about: organization, demands: ['read-entitlements'], status: 200 },
  { route: `GET ${ORGANIZATION}/subscription`, about: organization, demands: ['read-entitlements'], status: 200 },
  {
    route: `GET ${ORGANIZATION}/token-ttl-policies`,
    about: organization,
    demands: ['update-organization'],
    status: 200,
  },
  {
    route: `PATCH ${ORGANIZATION}/token-ttl-policies`,
    about: organization,
    demands: ['update-organization'],
    status: 200,
    trail: ['organization update'],
    fresh: true,
    body: resource('organization-token-ttl-policies', {
      'token-ttl-policies': [{ 'token-type': 'team', 'max-ttl-ms': 3_600_000 }],
    }),
  },
];

const featureSet = (id: string): object =>
  resource('subscriptions', {}, { 'feature-set': { data: { type: 'feature-sets', id } } });

const organizationOfSite: MatrixTarget = { ...organization, scope: () => SITE_SCOPE };

const administration: readonly MatrixRow[] = [
  { route: 'GET /feature-sets', about: site, demands: 'any token', status: 200 },
  { route: 'GET /admin/feature-sets', about: site, demands: ['manage-site'], status: 200 },
  { route: 'GET /admin/organizations', about: site, demands: ['manage-site'], status: 200 },
  { route: `GET /admin${ORGANIZATION}`, about: organizationOfSite, demands: ['manage-site'], status: 200 },
  {
    route: `PATCH /admin${ORGANIZATION}`,
    about: organizationOfSite,
    demands: ['manage-site'],
    status: 200,
    trail: ['organization update'],
    body: resource('organizations', { 'access-beta-tools': true }),
    tearDown: ({ server, acme }) =>
      server.patch(
        `/api/v2/admin/organizations/${acme.name}`,
        resource('organizations', { 'access-beta-tools': false }),
      ),
  },
  {
    route: `GET /admin${ORGANIZATION}/relationships/module-consumers`,
    about: organizationOfSite,
    demands: ['manage-site'],
    status: 200,
  },
  {
    route: `PATCH /admin${ORGANIZATION}/relationships/module-consumers`,
    about: organizationOfSite,
    demands: ['manage-site'],
    status: 204,
    trail: [],
    inert: true,
    body: { data: [] },
  },
  {
    route: `DELETE /admin${ORGANIZATION}`,
    about: organizationOfSite,
    demands: ['manage-site'],
    status: 204,
    trail: ['organization destroy'],
    fresh: true,
  },
  {
    route: `POST /admin${ORGANIZATION}/subscription`,
    about: organizationOfSite,
    demands: ['manage-subscription'],
    status: 200,
    trail: ['organization update'],
    body: featureSet('fs-free'),
    tearDown: ({ server, acme }) =>
      server.post(`/api/v2/admin/organizations/${acme.name}/subscription`, featureSet('fs-everything')),
  },
];

const projects: readonly MatrixRow[] = [
  {
    route: `GET ${ORGANIZATION}/projects`,
    about: organization,
    demands: ['read-organization'],
    status: 200,
    shows: ({ caller, world, may }) => [
      ...(may('read-project', onTheProject(caller, world)) ? ['land'] : []),
      ...(may('read-project', inAcme(caller, world)) ? ['elsewhere', 'Default Project'] : []),
    ],
  },
  {
    route: `POST ${ORGANIZATION}/projects`,
    about: organization,
    demands: ['create-project'],
    status: 201,
    trail: ['project create'],
    bodyFor: ({ world }) => resource('projects', { name: world.unique('made') }),
  },
  { route: 'GET /projects/:id', about: project, demands: ['read-project'], status: 200 },
  {
    route: 'PATCH /projects/:id',
    about: project,
    demands: ['read-project', 'update-project'],
    status: 200,
    trail: ['project update'],
    bodyFor: ({ world }) => resource('projects', { description: world.unique('described') }),
  },
  {
    route: 'PATCH /projects/:id',
    condition: 'the mode in which its workspaces execute runs',
    about: project,
    demands: ['read-project', 'update-project', 'change-project-execution'],
    status: 200,
    trail: ['project update'],
    fresh: true,
    body: resource('projects', { 'default-execution-mode': 'local' }),
  },
  {
    route: 'PATCH /projects/:id',
    condition: 'the time after which its workspaces are destroyed',
    about: project,
    demands: ['read-project', 'update-project', 'change-project-execution'],
    status: 200,
    trail: ['project update'],
    fresh: true,
    body: resource('projects', { 'auto-destroy-activity-duration': '30d' }),
  },
  {
    route: 'DELETE /projects/:id',
    about: project,
    demands: ['read-project', 'delete-project'],
    status: 204,
    trail: ['project destroy'],
    fresh: true,
  },
];

export const organizations: readonly MatrixRow[] = [...founding, ...one, ...administration, ...projects];
