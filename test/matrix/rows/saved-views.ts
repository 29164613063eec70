import { expectStatus, resource } from '../../support/seeds.js';
import type { MatrixRow, MatrixTarget } from '../matrix.js';
import type { MatrixWorld } from '../shared-world.js';
import { inAcme, organization, plainMember } from '../targets.js';

const VIEWS = '/organizations/:organization/saved-views';

const newView = (name: string): object => resource('saved-views', { name, query: 'sort=-name', shared: true });

/** Saves a shared view as a plain member. */
const saveView = async (world: MatrixWorld, name: string): Promise<string> => {
  const answer = await plainMember(world).api.post(
    `/api/v2/organizations/${world.acme.name}/saved-views`,
    newView(name),
  );
  return expectStatus(answer, 201).body.data.id as string;
};

const row = { view: '' };

/** The view exists while its row is tested, so that lists have one view. */
const whileSaved = {
  setUp: async (world: MatrixWorld) => {
    row.view = await saveView(world, 'view');
  },
  tearDown: (world: MatrixWorld) => plainMember(world).api.delete(`/api/v2/saved-views/${row.view}`),
};

const savedView: MatrixTarget = {
  scope: (_, world) => ({ organization: world.acme.id, user: plainMember(world).id }),
  params: () => ({ id: row.view }),
  fresh: async (_, world) => ({ params: { id: await saveView(world, world.unique('view')) } }),
};

/** Views of the caller itself, in the organization. */
const ownViews: MatrixTarget = {
  ...organization,
  scope: (caller, world) => ({ ...inAcme(caller, world), user: caller.id }),
};

export const savedViewRows: readonly MatrixRow[] = [
  {
    route: `GET ${VIEWS}`,
    about: organization,
    demands: ['read-organization'],
    status: 200,
    shows: () => ['view'],
    ...whileSaved,
  },
  { route: 'GET /saved-views/:id', about: savedView, demands: ['read-organization'], status: 200, ...whileSaved },
  {
    route: `POST ${VIEWS}`,
    about: organization,
    demands: ['read-organization', ['save-views', ownViews]],
    status: 201,
    trail: ['saved_view create'],
    bodyFor: ({ world }) => resource('saved-views', { name: world.unique('view'), query: '' }),
  },
  {
    route: 'PATCH /saved-views/:id',
    about: savedView,
    demands: ['read-organization', 'save-views'],
    status: 200,
    trail: ['saved_view update'],
    fresh: true,
    bodyFor: ({ world }) => resource('saved-views', { name: world.unique('renamed'), shared: false }),
    ...whileSaved,
  },
  {
    route: 'DELETE /saved-views/:id',
    about: savedView,
    demands: ['read-organization', 'delete-saved-view'],
    status: 204,
    trail: ['saved_view destroy'],
    fresh: true,
    ...whileSaved,
  },
];
