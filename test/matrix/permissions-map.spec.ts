import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Permission } from '#access';
import { AdjustableClock } from '../support/clocks.js';
import { expectStatus, resource } from '../support/seeds.js';
import { startTestServer, type ApiResponse, type TestServer } from '../support/server.js';
import type { MatrixCallerInWorld, MatrixWorld } from './shared-world.js';
import { expectedOf, type MatrixTarget } from './matrix.js';
import {
  forceDelete,
  OF_ORGANIZATION,
  OF_PROVIDER,
  OF_PROVIDER_PLATFORM,
  OF_PROVIDER_VERSION,
  OF_WORKSPACE,
  queueDestroy,
  type PermissionMap,
  type Probe,
  type Scene,
} from './probes.js';
import { pathOfProvider } from '../support/registry.js';
import { registryProvider } from './rows/registry.js';
import { organization, workspace } from './targets.js';
import { createCallers } from './world.js';

let server: TestServer;
let world: MatrixWorld;

beforeAll(async () => {
  const clock = new AdjustableClock();
  server = await startTestServer({ clock, followers: true });
  world = await createCallers(server, clock);
});

afterAll(() => server.close());

/** Refused for want of a permission; every other refusal is for who may. */
const isRefused = ({ status }: ApiResponse): boolean => status === 403 || status === 404;

/** A document that tells callers what they may do. */
type Document = {
  readonly name: string;
  readonly map: PermissionMap;
  readonly about: MatrixTarget;
  /** Who has it sees the document. */
  readonly readWith: Permission;
  readonly sceneFor: (caller: MatrixCallerInWorld) => Promise<Scene>;
  readonly path: (scene: Scene) => string;
};

const DOCUMENTS: readonly Document[] = [
  {
    name: 'a workspace',
    map: OF_WORKSPACE,
    about: workspace,
    readWith: 'read-workspace',
    sceneFor: async (caller) => {
      const made = await workspace.fresh?.(caller, world);
      return { world, caller, api: made?.api ?? caller.api, id: made?.params['id'] ?? '' };
    },
    path: ({ id }) => `/api/v2/workspaces/${id}`,
  },
  {
    name: 'an organization',
    map: OF_ORGANIZATION,
    about: organization,
    readWith: 'read-organization',
    sceneFor: (caller) => Promise.resolve({ world, caller, api: caller.api, id: '' }),
    path: () => '/api/v2/organizations/acme',
  },
  ...(
    [
      ['a provider', OF_PROVIDER, ''],
      ['a version of one', OF_PROVIDER_VERSION, '/versions/1.0.0'],
      ['a platform of one', OF_PROVIDER_PLATFORM, '/versions/1.0.0/platforms/linux/amd64'],
    ] as const
  ).map(([name, map, path]): Document => ({
    name,
    map,
    about: registryProvider,
    readWith: 'read-providers',
    sceneFor: async (caller) => {
      const made = await registryProvider.fresh?.(caller, world);
      return { world, caller, api: caller.api, id: made?.params['name'] ?? '' };
    },
    path: ({ id }) => `${pathOfProvider('acme', id)}${path}`,
  })),
];

const may = (caller: MatrixCallerInWorld, permission: Permission, { about }: Document): boolean =>
  expectedOf({ route: 'GET /', about, demands: [permission], status: 200 }, caller, world) === '200';

const readersOf = (document: Document): MatrixCallerInWorld[] =>
  world.callers.filter((caller) => may(caller, document.readWith, document));

const told = async (scene: Scene, { path }: Document): Promise<Record<string, boolean>> =>
  expectStatus(await scene.api.get(path(scene)), 200).body.data.attributes.permissions;

/** Who is told something else of a key than what they can do, one after the other: some of it is done to the same things. */
const untruths = async (document: Document, key: string, probe: Probe): Promise<string[]> => {
  const found: string[] = [];
  for (const caller of readersOf(document)) {
    const scene = await document.sceneFor(caller);
    const { [key]: flag } = await told(scene, document);
    const can = !isRefused(await probe(scene));
    if (flag !== can) found.push(`${caller.name}: told ${flag}, and ${can ? 'can' : 'cannot'}`);
  }
  return found;
};

describe.each(DOCUMENTS)('the permissions of $name', (document) => {
  const { probes, byTable, never } = document.map;

  it('have every key; what there is nothing to do with yet is as the table has it, or for nobody', async () => {
    const keys = [...Object.keys(probes), ...Object.keys(byTable), ...never].toSorted();
    const callers = readersOf(document);
    expect(callers.length).toBeGreaterThan(30);
    for (const caller of callers) {
      const map = await told(await document.sceneFor(caller), document);
      expect([caller.name, Object.keys(map).toSorted()]).toEqual([caller.name, keys]);
      const expected = Object.entries(byTable).map(([key, permission]) => [key, may(caller, permission, document)]);
      expect([caller.name, map]).toMatchObject([caller.name, Object.fromEntries(expected)]);
      expect([caller.name, never.filter((key) => map[key])]).toEqual([caller.name, []]);
    }
  });

  it.each(Object.entries(probes))('%s: who is told so can, and nobody else', async (key, probe) => {
    expect(await untruths(document, key, probe)).toEqual([]);
  });
});

describe('what a setting has a say in', () => {
  const [ofWorkspace] = DOCUMENTS as readonly [Document, ...Document[]];

  it('is deletion by force, where the organization lets admins', async () => {
    const letThem = resource('organizations', { 'allow-force-delete-workspaces': true });
    expectStatus(await server.patch('/api/v2/organizations/acme', letThem), 200);
    expect(await untruths(ofWorkspace, 'can-force-delete', forceDelete)).toEqual([]);
  });

  it('is a plan to destroy, where the workspace is not to be destroyed', async () => {
    const keep = resource('workspaces', { 'allow-destroy-plan': false });
    for (const caller of readersOf(ofWorkspace)) {
      const scene = await ofWorkspace.sceneFor(caller);
      expectStatus(await server.patch(`/api/v2/workspaces/${scene.id}`, keep), 200);
      const { status } = await queueDestroy(scene);
      const { 'can-queue-destroy': flag } = await told(scene, ofWorkspace);
      expect([caller.name, flag, status < 300]).toEqual([caller.name, false, false]);
    }
  });
});
