import { resource } from '../../support/seeds.js';
import type { MatrixRow } from '../matrix.js';
import { organization, workspace } from '../targets.js';

const POLICY = 'relationships/data-retention-policy';
const policy = resource('data-retention-policy-delete-olders', { 'delete-older-than-n-days': 30 });

type RetentionOwner = Pick<MatrixRow, 'about'> & {
  readonly path: string;
  readonly reads: MatrixRow['demands'];
  readonly writes: MatrixRow['demands'];
};

const OF_WORKSPACE: RetentionOwner = {
  path: `/workspaces/:id/${POLICY}`,
  about: workspace,
  reads: ['read-workspace'],
  writes: ['manage-data-retention'],
};
const OF_ORGANIZATION: RetentionOwner = {
  path: `/organizations/:organization/${POLICY}`,
  about: organization,
  reads: ['read-organization'],
  writes: ['update-organization'],
};

const rowsOf = ({ path, about, reads, writes }: RetentionOwner): readonly MatrixRow[] => [
  {
    route: `GET ${path}`,
    about,
    demands: reads,
    status: 200,
    // A policy of the organization also applies to its workspaces.
    setUp: ({ server }) => server.post(`/api/v2/organizations/acme/${POLICY}`, policy),
    tearDown: ({ server }) => server.delete(`/api/v2/organizations/acme/${POLICY}`),
  },
  ...(['POST', 'PATCH'] as const).map((method): MatrixRow => ({
    route: `${method} ${path}`,
    about,
    demands: writes,
    status: 200,
    trail: ['data_retention_policy create'],
    fresh: true,
    body: policy,
  })),
  {
    route: `DELETE ${path}`,
    about,
    demands: writes,
    status: 204,
    trail: ['data_retention_policy destroy'],
    fresh: true,
    before: ({ world, params }) =>
      world.server.post(`/api/v2${path.replaceAll(/:(\w+)/g, (_, name: string) => params[name] ?? '')}`, policy),
  },
];

export const retentionOfWorkspaces = rowsOf(OF_WORKSPACE);
export const retentionOfOrganizations = rowsOf(OF_ORGANIZATION);
