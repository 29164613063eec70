import {
  makeModule,
  makeModuleVersion,
  moduleBody,
  moduleVersionBody,
  packModule,
} from '../../support/registry-modules.js';
import { resource } from '../../support/seeds.js';
import type { MatrixRow, MatrixTarget } from '../matrix.js';
import { inAcme, organization, site, tokenOf } from '../targets.js';

const MODULES = '/organizations/:organization/registry-modules';
const BY_NAME = `${MODULES}/:registryName/:namespace/:name`;
const MODULE = `${BY_NAME}/:provider`;
const OLD = '/registry-modules/:organization/:name/:provider/versions';
const ACTIONS = '/registry-modules/actions/delete/:organization/:name';
const PROTOCOL = '/api/registry/v1/modules';
const OBJECT = '/api/registry/private/v2/modules/object/:token';

const theModule = {
  organization: 'acme',
  registryName: 'private',
  namespace: 'acme',
  name: 'network',
  provider: 'aws',
  version: '1.0.0',
};

/** Params for all paths below a module. A fresh module has two versions without archives. */
export const registryModule: MatrixTarget = {
  scope: inAcme,
  params: (_, { resources }) => ({ ...theModule, id: resources.module }),
  fresh: async (_, { server, unique }) => {
    const name = unique('module');
    await makeModule(server, 'acme', name);
    for (const version of ['1.0.0', '1.1.0']) await makeModuleVersion(server, 'acme', name, version);
    return { params: { ...theModule, name } };
  },
};

const reads: readonly MatrixRow[] = [
  { route: `GET ${MODULES}`, about: organization, demands: ['read-modules'], status: 200, shows: () => ['network'] },
  ...[MODULE, '/registry-modules/:id'].map((path): MatrixRow => ({
    route: `GET ${path}`,
    about: registryModule,
    demands: ['read-modules'],
    status: 200,
  })),
  {
    route: `GET ${MODULE}/version`,
    about: registryModule,
    demands: ['read-modules'],
    status: 200,
    query: () => 'module_version=1.0.0',
  },
  {
    route: `GET ${MODULE}/versions`,
    about: registryModule,
    demands: ['read-modules'],
    status: 200,
    shows: () => ['1.0.0'],
    nameOf: ({ attributes }) => attributes.version as string,
  },
];

const changes: readonly MatrixRow[] = [
  {
    route: `POST ${MODULES}`,
    about: organization,
    demands: ['manage-modules'],
    status: 201,
    trail: ['registry_module create'],
    bodyFor: ({ world }) => moduleBody(world.unique('made')),
  },
  {
    route: `PATCH ${MODULE}`,
    about: registryModule,
    demands: ['manage-modules'],
    status: 200,
    trail: ['registry_module update'],
    fresh: true,
    body: resource('registry-modules', { 'no-code': true }),
  },
  ...([`POST ${MODULE}/versions`, `POST ${OLD}`] as const).map((route): MatrixRow => ({
    route,
    about: registryModule,
    demands: ['manage-modules'],
    status: 201,
    trail: ['registry_module update'],
    fresh: true,
    body: moduleVersionBody('2.0.0'),
  })),
  ...([`DELETE ${MODULE}/:version`, `POST ${ACTIONS}/:provider/:version`] as const).map((route): MatrixRow => ({
    route,
    about: registryModule,
    demands: ['manage-modules'],
    status: 204,
    trail: ['registry_module destroy_version'],
    fresh: true,
  })),
  ...([`DELETE ${MODULE}`, `DELETE ${BY_NAME}`, `POST ${ACTIONS}/:provider`, `POST ${ACTIONS}`] as const).map(
    (route): MatrixRow => ({
      route,
      about: registryModule,
      demands: ['manage-modules'],
      status: 204,
      trail: ['registry_module destroy'],
      fresh: true,
    }),
  ),
];

const installing: readonly MatrixRow[] = [
  ...['versions', ':version/download'].map((path): MatrixRow => ({
    route: `GET ${PROTOCOL}/:namespace/:name/:provider/${path}`,
    about: registryModule,
    demands: ['read-modules'],
    status: path === 'versions' ? 200 : 204,
  })),
  ...['', '/:version'].map((path): MatrixRow => ({
    route: `GET ${PROTOCOL}/:namespace/:name/:provider${path}`,
    about: registryModule,
    demands: ['read-modules'],
    status: 200,
  })),
  // Lists contain only what the caller may read.
  ...['', '/search', '/:namespace'].map((path): MatrixRow => ({
    route: `GET ${PROTOCOL}${path}`,
    about: { ...site, params: () => ({ namespace: 'acme' }) },
    demands: 'any token',
    status: 200,
    query: () => 'q=network',
  })),
];

const unsigned: MatrixTarget = { ...site, params: () => ({ token: 'not.signed', filename: 'not.tar.gz' }) };

/** A version that waits for its archive. Any caller may use the link, which replaces the permission. */
const awaited: MatrixTarget = {
  ...unsigned,
  fresh: async (_, { server, unique }) => {
    const name = unique('module');
    await makeModule(server, 'acme', name);
    const { links } = await makeModuleVersion(server, 'acme', name, '1.0.0');
    return { params: { token: tokenOf(links.upload as string) } };
  },
};

const stored: MatrixTarget = {
  ...site,
  params: (_, { resources }) => {
    const [token = '', filename = ''] = new URL(resources.moduleArchive).pathname.split('/').slice(-2);
    return { token, filename };
  },
};

const ARCHIVE = await packModule();

const files: readonly MatrixRow[] = [
  {
    route: `PUT ${OBJECT}`,
    about: awaited,
    demands: 'anybody',
    status: 200,
    trail: ['registry_module update'],
    fresh: true,
    body: ARCHIVE,
  },
  {
    route: `PUT ${OBJECT}`,
    condition: 'with an invalid signature',
    about: unsigned,
    demands: 'anybody',
    status: 403,
    trail: [],
    body: 'bytes',
  },
  { route: `GET ${OBJECT}/:filename`, about: stored, demands: 'anybody', status: 200 },
  {
    route: `GET ${OBJECT}/:filename`,
    condition: 'with an invalid signature',
    about: unsigned,
    demands: 'anybody',
    status: 403,
  },
];

export const modules: readonly MatrixRow[] = [...reads, ...changes, ...installing, ...files];
