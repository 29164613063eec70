import type { MatrixRow } from '../matrix.js';
import type { MatrixWorld } from '../shared-world.js';
import { organization, project, workspace } from '../targets.js';
import { seenWorkspaces } from './workspaces.js';

const all =
  (action: string): NonNullable<MatrixRow['setUp']> =>
  async (world: MatrixWorld) => {
    for (const id of [world.one, world.beside, world.far]) {
      await world.server.post(`/api/v2/workspaces/${id}/actions/${action}`);
    }
  };

/** A time after all changes of these tests, so that the result is the current state. */
const buildAsOfParameter = (): string => 'as-of=2100-01-01';

/** The history requires the permission to read the current state. */
export const history: readonly MatrixRow[] = [
  ...['/workspaces/:id', '/organizations/:organization/workspaces/:name'].map((path): MatrixRow => ({
    route: `GET ${path}`,
    condition: 'with as-of',
    about: workspace,
    demands: ['read-workspace-history'],
    status: 200,
    query: buildAsOfParameter,
  })),
  {
    route: 'GET /organizations/:organization/workspaces',
    condition: 'with as-of',
    about: organization,
    demands: ['read-organization'],
    status: 200,
    query: buildAsOfParameter,
    shows: seenWorkspaces,
  },
  ...['tag-bindings', 'effective-tag-bindings', 'relationships/tags'].map((path): MatrixRow => ({
    route: `GET /workspaces/:id/${path}`,
    condition: 'with as-of',
    about: workspace,
    demands: ['read-workspace-history'],
    status: 200,
    query: buildAsOfParameter,
  })),
  ...['tag-bindings', 'effective-tag-bindings'].map((path): MatrixRow => ({
    route: `GET /projects/:id/${path}`,
    condition: 'with as-of',
    about: project,
    demands: ['read-project'],
    status: 200,
    query: buildAsOfParameter,
  })),
  ...['history', 'lock-history'].map((path): MatrixRow => ({
    route: `GET /workspaces/:id/${path}`,
    about: workspace,
    demands: ['read-workspace-history'],
    status: 200,
  })),
  {
    route: 'GET /organizations/:organization/locks',
    about: organization,
    demands: ['read-organization'],
    status: 200,
    setUp: all('lock'),
    tearDown: all('unlock'),
    shows: seenWorkspaces,
    nameOf: ({ attributes }) => attributes['workspace-name'] as string,
  },
];
