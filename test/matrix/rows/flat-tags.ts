import { flatTags, idOfTag, makeWorkspace, related } from '../../support/seeds.js';
import type { MatrixRow, MatrixTarget } from '../matrix.js';
import { inAcme, onTheWorkspace, organization, workspace } from '../targets.js';
import { seenWorkspaces } from './workspaces.js';

const OF_WORKSPACE = '/workspaces/:id/relationships/tags';
const OF_ORGANIZATION = '/organizations/:organization/tags';

/** Tags that all shared workspaces have. */
const flat = flatTags('flat');

const reads: readonly MatrixRow[] = [
  {
    route: `GET ${OF_ORGANIZATION}`,
    about: organization,
    demands: ['read-organization'],
    status: 200,
    shows: (request) => (seenWorkspaces(request).length > 0 ? ['flat'] : []),
  },
  { route: `GET ${OF_WORKSPACE}`, about: workspace, demands: ['read-workspace'], status: 200, shows: () => ['flat'] },
];

const ofOne: readonly MatrixRow[] = (['POST', 'DELETE'] as const).map((method) => ({
  route: `${method} ${OF_WORKSPACE}`,
  about: workspace,
  demands: ['read-workspace', 'tag-workspace'],
  status: 204,
  trail: ['workspace update'],
  fresh: true,
  before: async ({ world, params }) => {
    if (method === 'DELETE') await world.server.post(`/api/v2/workspaces/${params['id']}/relationships/tags`, flat);
  },
  body: flat,
}));

/** A tag of a workspace that no team has access to. */
const doomedTag: MatrixTarget = {
  scope: inAcme,
  params: (_, { acme }) => ({ organization: acme.name }),
  fresh: async (_, { server, acme, unique }) => {
    const name = unique('doomed');
    await makeWorkspace(server, acme.name, unique('carrier'), {}, { tags: flatTags(name) });
    return { params: { organization: acme.name, tag: await idOfTag(server, acme.name, name) } };
  },
};

const ofAll: readonly MatrixRow[] = [
  {
    route: `DELETE ${OF_ORGANIZATION}`,
    about: doomedTag,
    demands: ['read-organization', 'delete-tags'],
    status: 204,
    trail: ['workspace update'],
    fresh: true,
    bodyFor: ({ world, params }) => related('tags', params['tag'] ?? world.resources.tag),
  },
];

/** The shared tag, and a workspace to add it to. */
const tagged: MatrixTarget = {
  scope: onTheWorkspace,
  params: (_, { resources, one }) => ({ id: resources.tag, workspace: one }),
  fresh: async (caller, world) => {
    const fresh = await workspace.fresh?.(caller, world);
    return { ...fresh, params: { id: world.resources.tag, workspace: fresh?.params['id'] ?? '' } };
  },
};

const addsWorkspaces: readonly MatrixRow[] = [
  {
    route: 'POST /tags/:id/relationships/workspaces',
    about: tagged,
    demands: ['read-workspace', 'tag-workspace'],
    status: 204,
    trail: ['workspace update'],
    fresh: true,
    bodyFor: ({ params }) => related('workspaces', params['workspace'] ?? ''),
  },
];

/** Flat tags of one workspace and of all workspaces. */
export const flatTagRows: readonly MatrixRow[] = [...reads, ...ofOne, ...ofAll, ...addsWorkspaces];
