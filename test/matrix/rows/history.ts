import type { Row } from '../matrix.js';
import type { World } from '../land.js';
import { organization, project, workspace } from '../targets.js';
import { seenWorkspaces } from './workspaces.js';

const all =
  (action: string): NonNullable<Row['setUp']> =>
  async (world: World) => {
    for (const id of [world.one, world.beside, world.far]) {
      await world.server.post(`/api/v2/workspaces/${id}/actions/${action}`);
    }
  };

/** Later than all that happens here: everything is then as it is. */
const asOf = (): string => 'as-of=2100-01-01';

/** What was, to who may read what is. */
export const history: readonly Row[] = [
  ...['/workspaces/:id', '/organizations/:organization/workspaces/:name'].map((path): Row => ({
    route: `GET ${path}`,
    when: 'as of a time',
    about: workspace,
    demands: ['read-workspace-history'],
    status: 200,
    query: asOf,
  })),
  {
    route: 'GET /organizations/:organization/workspaces',
    when: 'as of a time',
    about: organization,
    demands: ['read-organization'],
    status: 200,
    query: asOf,
    shows: seenWorkspaces,
  },
  ...['tag-bindings', 'effective-tag-bindings', 'relationships/tags'].map((path): Row => ({
    route: `GET /workspaces/:id/${path}`,
    when: 'as of a time',
    about: workspace,
    demands: ['read-workspace-history'],
    status: 200,
    query: asOf,
  })),
  ...['tag-bindings', 'effective-tag-bindings'].map((path): Row => ({
    route: `GET /projects/:id/${path}`,
    when: 'as of a time',
    about: project,
    demands: ['read-project'],
    status: 200,
    query: asOf,
  })),
  ...['history', 'lock-history'].map((path): Row => ({
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
