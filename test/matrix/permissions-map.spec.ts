import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Permission } from '#api/access';
import { expectStatus, resource } from '../support/seeds.js';
import type { ApiResponse } from '../support/server.js';
import type { MatrixCallerInWorld, MatrixWorld } from './shared-world.js';
import { expectedOf, type MatrixTarget } from './matrix.js';
import {
  forceDelete,
  OF_ORGANIZATION,
  OF_MODULE,
  OF_PROVIDER,
  OF_PROVIDER_PLATFORM,
  OF_PROVIDER_VERSION,
  OF_WORKSPACE,
  queueDestroy,
  type PermissionMap,
  type Probe,
  type Scene,
} from './probes.js';
import { pathOfModule } from '../support/registry-modules.js';
import { pathOfProvider } from '../support/registry.js';
import { registryModule } from './rows/modules.js';
import { registryProvider } from './rows/registry.js';
import { organization, workspace } from './targets.js';
import { startMatrixWorld } from './world.js';

let world: MatrixWorld;

beforeAll(async () => {
  world = await startMatrixWorld();
});

afterAll(() => world.server.close());

/** Only 403 and 404 mean that a permission is missing. */
const isRefused = ({ status }: ApiResponse): boolean => status === 403 || status === 404;

/** A document with a map of the caller's permissions. */
type Document = {
  readonly name: string;
  readonly map: PermissionMap;
  readonly about: MatrixTarget;
  /** The permission to read the document. */
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
      const fresh = await workspace.fresh?.(caller, world);
      return { world, caller, api: fresh?.api ?? caller.api, id: fresh?.params['id'] ?? '' };
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
  {
    name: 'a module',
    map: OF_MODULE,
    about: registryModule,
    readWith: 'read-modules',
    sceneFor: async (caller) => {
      const fresh = await registryModule.fresh?.(caller, world);
      return { world, caller, api: caller.api, id: fresh?.params['name'] ?? '' };
    },
    path: ({ id }) => pathOfModule('acme', id),
  },
  ...(
    [
      ['a provider', OF_PROVIDER, ''],
      ['a version of a provider', OF_PROVIDER_VERSION, '/versions/1.0.0'],
      ['a platform of a version', OF_PROVIDER_PLATFORM, '/versions/1.0.0/platforms/linux/amd64'],
    ] as const
  ).map(([name, map, path]): Document => ({
    name,
    map,
    about: registryProvider,
    readWith: 'read-providers',
    sceneFor: async (caller) => {
      const fresh = await registryProvider.fresh?.(caller, world);
      return { world, caller, api: caller.api, id: fresh?.params['name'] ?? '' };
    },
    path: ({ id }) => `${pathOfProvider('acme', id)}${path}`,
  })),
];

const may = (caller: MatrixCallerInWorld, permission: Permission, { about }: Document): boolean =>
  expectedOf({ route: 'GET /', about, demands: [permission], status: 200 }, caller, world) === '200';

const readersOf = (document: Document): MatrixCallerInWorld[] =>
  world.callers.filter((caller) => may(caller, document.readWith, document));

const sharedScenes = new Map<string, Scene>();

/** Returns a scene of the caller that probes share. */
const shareScene = async (document: Document, caller: MatrixCallerInWorld): Promise<Scene> => {
  const key = `${document.name} of ${caller.name}`;
  const scene = sharedScenes.get(key) ?? (await document.sceneFor(caller));
  sharedScenes.set(key, scene);
  return scene;
};

const permissionsIn = async (scene: Scene, { path }: Document): Promise<Record<string, boolean>> =>
  expectStatus(await scene.api.get(path(scene)), 200).body.data.attributes.permissions;

/**
 * Returns the callers whose flag differs from what they can do. It tries one caller after the other, because they share
 * resources.
 */
const findWrongFlags = async (document: Document, key: string, probe: Probe): Promise<string[]> => {
  const wrong: string[] = [];
  for (const caller of readersOf(document)) {
    const isShared = document.map.sharing.includes(key);
    const scene = await (isShared ? shareScene(document, caller) : document.sceneFor(caller));
    const { [key]: flag } = await permissionsIn(scene, document);
    const can = !isRefused(await probe(scene));
    if (flag !== can)
      wrong.push(`${caller.name}: the flag is ${flag}, but the request ${can ? 'succeeds' : 'is refused'}`);
  }
  return wrong;
};

describe.each(DOCUMENTS)('the permissions of $name', (document) => {
  const { probes, byTable, never } = document.map;

  it('have every key, and keys without an endpoint follow the table or are false', async () => {
    const keys = [...Object.keys(probes), ...Object.keys(byTable), ...never].toSorted();
    const callers = readersOf(document);
    expect(callers.length).toBeGreaterThan(30);
    for (const caller of callers) {
      const map = await permissionsIn(await shareScene(document, caller), document);
      expect([caller.name, Object.keys(map).toSorted()]).toEqual([caller.name, keys]);
      const expected = Object.entries(byTable).map(([key, permission]) => [key, may(caller, permission, document)]);
      expect([caller.name, map]).toMatchObject([caller.name, Object.fromEntries(expected)]);
      expect([caller.name, never.filter((key) => map[key])]).toEqual([caller.name, []]);
    }
  });

  it.each(Object.entries(probes))('%s is true exactly for callers that can do it', async (key, probe) => {
    expect(await findWrongFlags(document, key, probe)).toEqual([]);
  });
});

describe('a permission that depends on a setting', () => {
  const [ofWorkspace] = DOCUMENTS as readonly [Document, ...Document[]];

  it('is can-force-delete, if the organization allows it for admins', async () => {
    const letThem = resource('organizations', { 'allow-force-delete-workspaces': true });
    expectStatus(await world.server.patch('/api/v2/organizations/acme', letThem), 200);
    expect(await findWrongFlags(ofWorkspace, 'can-force-delete', forceDelete)).toEqual([]);
  });

  it('is can-queue-destroy, if the workspace forbids destroy plans', async () => {
    const forbidDestroy = resource('workspaces', { 'allow-destroy-plan': false });
    for (const caller of readersOf(ofWorkspace)) {
      const scene = await ofWorkspace.sceneFor(caller);
      expectStatus(await world.server.patch(`/api/v2/workspaces/${scene.id}`, forbidDestroy), 200);
      const { status } = await queueDestroy(scene);
      const { 'can-queue-destroy': flag } = await permissionsIn(scene, ofWorkspace);
      expect([caller.name, flag, status < 300]).toEqual([caller.name, false, false]);
    }
  });
});
