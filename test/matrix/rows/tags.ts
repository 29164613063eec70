import { bindTags, makeReservedTagKey, resource, tagBindings } from '../../support/seeds.js';
import type { MatrixWorld } from '../shared-world.js';
import type { MatrixRow, MatrixTarget } from '../matrix.js';
import { inAcme, organization, createTarget } from '../targets.js';
import { seenWorkspaces } from './workspaces.js';

const KEYS = '/organizations/:organization/reserved-tag-keys';

const reservedTagKey: MatrixTarget = {
  ...createTarget(inAcme, 'reservedTagKey'),
  fresh: async (_, { server, acme, unique }) => ({
    params: { id: await makeReservedTagKey(server, acme.name, unique('key')) },
  }),
};

const reserved = (attributes: object): object => resource('reserved-tag-keys', attributes);

const ofWorkspace = ({ attributes }: any): string => attributes['workspace-name'] as string;

const reads: readonly MatrixRow[] = [
  {
    route: `GET ${KEYS}`,
    about: organization,
    demands: ['read-reserved-tag-keys'],
    status: 200,
    shows: () => ['owner'],
    nameOf: ({ attributes }) => attributes.key as string,
  },
  {
    route: 'GET /organizations/:organization/tag-compliance-statistics',
    about: organization,
    demands: ['read-reserved-tag-keys'],
    status: 200,
  },
  {
    route: 'GET /organizations/:organization/tag-compliance',
    about: organization,
    demands: ['read-reserved-tag-keys'],
    status: 200,
    // No project and no workspace has this key.
    query: () => 'filter[key]=owner',
    shows: seenWorkspaces,
    nameOf: ofWorkspace,
  },
];

/** All workspaces already bind this key themselves. */
const bindToProjects = async ({ server, land, elsewhere }: MatrixWorld): Promise<void> => {
  for (const id of [land, elsewhere]) await bindTags(server, `projects/${id}`, { env: 'prod' });
};

const unbindFromProjects = async ({ server, land, elsewhere }: MatrixWorld): Promise<void> => {
  const none = resource('projects', {}, { 'tag-bindings': tagBindings({}) });
  for (const id of [land, elsewhere]) await server.patch(`/api/v2/projects/${id}`, none);
};

const previews: readonly MatrixRow[] = [
  {
    route: `POST ${KEYS}/actions/preview`,
    about: organization,
    demands: ['read-reserved-tag-keys'],
    status: 200,
    // A preview changes nothing.
    trail: [],
    inert: true,
    body: reserved({ key: 'env', 'disable-overrides': true }),
    setUp: bindToProjects,
    tearDown: unbindFromProjects,
    shows: seenWorkspaces,
    nameOf: ofWorkspace,
  },
];

const changes: readonly MatrixRow[] = [
  {
    route: `POST ${KEYS}`,
    about: organization,
    demands: ['manage-reserved-tag-keys'],
    status: 201,
    trail: ['reserved_tag_key create'],
    bodyFor: ({ world }) => reserved({ key: world.unique('made') }),
  },
  ...['/reserved-tags/:id', '/reserved-tag-keys/:id'].flatMap((path): MatrixRow[] => [
    {
      route: `PATCH ${path}`,
      about: reservedTagKey,
      demands: ['manage-reserved-tag-keys'],
      status: 200,
      trail: ['reserved_tag_key update'],
      fresh: true,
      bodyFor: ({ world }) => reserved({ key: world.unique('renamed') }),
    },
    {
      route: `DELETE ${path}`,
      about: reservedTagKey,
      demands: ['manage-reserved-tag-keys'],
      status: 204,
      trail: ['reserved_tag_key destroy'],
      fresh: true,
    },
  ]),
];

export const reservedTagKeys: readonly MatrixRow[] = [...reads, ...previews, ...changes];
