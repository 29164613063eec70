import { tagBindings } from '../../support/seeds.js';
import type { MatrixRow, MatrixTarget } from '../matrix.js';
import type { MatrixTrailEntry } from '../trail.js';
import { project, workspace } from '../targets.js';

type BindingOwner = {
  readonly path: string;
  readonly about: MatrixTarget;
  readonly read: MatrixRow['demands'];
  readonly bind: MatrixRow['demands'];
  readonly entry: MatrixTrailEntry;
};

const OWNERS: readonly BindingOwner[] = [
  {
    path: '/workspaces/:id',
    about: workspace,
    read: ['read-workspace'],
    bind: ['read-workspace', 'tag-workspace'],
    entry: 'workspace update',
  },
  {
    path: '/projects/:id',
    about: project,
    read: ['read-project'],
    bind: ['read-project', 'update-project'],
    entry: 'project update',
  },
];

const READS = ['tag-bindings', 'effective-tag-bindings', 'relationships/tag-bindings'];

const WRITES = [
  ['PATCH', 'tag-bindings', 200],
  ['PATCH', 'relationships/tag-bindings', 204],
  ['POST', 'relationships/tag-bindings', 204],
  ['DELETE', 'relationships/tag-bindings', 204],
] as const;

const BINDING = tagBindings({ env: 'prod' });

export const tagBindingRows: readonly MatrixRow[] = OWNERS.flatMap(({ path, about, read, bind, entry }) => [
  ...READS.map((rest): MatrixRow => ({ route: `GET ${path}/${rest}`, about, demands: read, status: 200 })),
  ...WRITES.map(([method, rest, status]): MatrixRow => ({
    route: `${method} ${path}/${rest}`,
    about,
    demands: bind,
    status,
    trail: [entry],
    fresh: true,
    before: async ({ world, params: { id } }) => {
      const related = `/api/v2${path.replace(':id', String(id))}/relationships/tag-bindings`;
      if (method === 'DELETE') await world.server.post(related, BINDING);
    },
    body: BINDING,
  })),
]);
