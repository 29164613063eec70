import {
  makeNotificationConfiguration,
  newNotificationConfiguration,
  startReceiver,
  type NotificationReceiver,
} from '../../support/notification-receiver.js';
import { resource } from '../../support/seeds.js';
import type { MatrixRow, MatrixTarget } from '../matrix.js';
import type { MatrixCallerInWorld, MatrixWorld } from '../shared-world.js';
import { openTeam, organization, ownersTeam, secretTeam, workspace } from '../targets.js';

type NotificationOwner = {
  /** Distinguishes the rows of teams. */
  readonly condition?: string;
  readonly about: MatrixTarget;
  /** The route of the owner. */
  readonly path: string;
  readonly demands: MatrixRow['demands'];
};

const OWNERS: readonly NotificationOwner[] = [
  { path: '/workspaces/:id', about: workspace, demands: ['read-workspace', 'update-workspace'] },
  { path: '/organizations/:organization', about: organization, demands: ['update-organization'] },
  {
    path: '/teams/:id',
    condition: 'a visible team',
    about: openTeam,
    demands: ['read-teams', 'manage-teams'],
  },
  {
    path: '/teams/:id',
    condition: 'a secret team',
    about: secretTeam,
    demands: ['read-teams', 'read-secret-teams', 'manage-teams'],
  },
  {
    path: '/teams/:id',
    condition: 'the team of owners',
    about: ownersTeam,
    demands: ['read-teams', 'manage-owners'],
  },
];

/** Nothing listens there. */
const UNREACHABLE = { url: 'http://127.0.0.1:9/hook' };

/** Ids of configurations that no request changes, by owner, of each server. */
const sharedBy = new WeakMap<MatrixWorld['server'], Map<string, string>>();

const getShared = ({ server }: MatrixWorld): Map<string, string> => {
  const shared = sharedBy.get(server) ?? new Map<string, string>();
  sharedBy.set(server, shared);
  return shared;
};

const addressOwner = ({ about, path }: NotificationOwner, caller: MatrixCallerInWorld, world: MatrixWorld): string =>
  path.slice(1).replaceAll(/:(\w+)/g, (_, name: string) => about.params(caller, world)[name] ?? '');

const make = (world: MatrixWorld, owner: string, name: string): Promise<string> =>
  makeNotificationConfiguration(world.server, owner, name, UNREACHABLE);

/** Deletes what earlier requests have created, because an owner can have 20 configurations. */
const clear = async (world: MatrixWorld, address: string): Promise<void> => {
  const { body } = await world.server.get(`/api/v2/${address}/notification-configurations?page[size]=100`);
  for (const { id } of body.data as { id: string }[]) {
    if (id !== getShared(world).get(address)) await world.server.delete(`/api/v2/notification-configurations/${id}`);
  }
};

const configurationOf = (owner: NotificationOwner): MatrixTarget => ({
  scope: owner.about.scope,
  params: (caller, world) => ({ id: getShared(world).get(addressOwner(owner, caller, world)) ?? '' }),
  fresh: async (caller, world) => {
    const address = addressOwner(owner, caller, world);
    await clear(world, address);
    return { params: { id: await make(world, address, world.unique('configuration')) } };
  },
});

const makeShared =
  (owner: NotificationOwner): NonNullable<MatrixRow['setUp']> =>
  async (world) => {
    const shared = getShared(world);
    // Most owners are the same for all callers.
    for (const address of new Set(world.callers.map((caller) => addressOwner(owner, caller, world)))) {
      if (!shared.has(address)) shared.set(address, await make(world, address, 'shared'));
      await clear(world, address);
    }
  };

/** Creates a configuration of each owner, for requests to every route. */
export const setUpSharedNotifications = async (world: MatrixWorld): Promise<void> => {
  for (const owner of OWNERS) await makeShared(owner)(world);
};

type ConfigurationRow = Pick<MatrixRow, 'about' | 'demands' | 'condition' | 'setUp'>;

/** A destination answers the tests. Nothing is appended, because responses are stored outside the log. */
const verifyRow = (configuration: ConfigurationRow): MatrixRow => {
  let receiver: NotificationReceiver | null = null;
  return {
    ...configuration,
    route: 'POST /notification-configurations/:id/actions/verify',
    status: 200,
    trail: [],
    inert: true,
    fresh: true,
    setUp: async (world) => {
      receiver = await startReceiver();
      await configuration.setUp?.(world);
    },
    tearDown: async () => receiver?.close(),
    before: ({ world, params }) =>
      world.server.patch(
        `/api/v2/notification-configurations/${params['id'] ?? ''}`,
        resource('notification-configurations', { url: receiver?.url }),
      ),
  };
};

const rowsOf = (owner: NotificationOwner): readonly MatrixRow[] => {
  const { path, about, demands, condition } = owner;
  const row = { demands, ...(condition === undefined ? {} : { condition }) } as const;
  const ownCondition = condition === undefined ? { condition: `of ${path.split('/')[1] ?? ''}` } : { condition };
  const configuration = { ...row, ...ownCondition, about: configurationOf(owner), setUp: makeShared(owner) };
  return [
    {
      ...row,
      route: `GET ${path}/notification-configurations`,
      about,
      status: 200,
      setUp: makeShared(owner),
      shows: () => ['shared'],
    },
    { ...configuration, route: 'GET /notification-configurations/:id', status: 200 },
    { ...configuration, route: 'GET /notification-configurations/:id/deliveries', status: 200 },
    {
      ...row,
      route: `POST ${path}/notification-configurations`,
      about,
      status: 201,
      trail: ['notification_configuration create'],
      before: ({ world, caller }) => clear(world, addressOwner(owner, caller, world)),
      bodyFor: ({ world }) => newNotificationConfiguration(world.unique('made'), UNREACHABLE),
    },
    {
      ...configuration,
      route: 'PATCH /notification-configurations/:id',
      status: 200,
      trail: ['notification_configuration update'],
      fresh: true,
      bodyFor: ({ world }) => resource('notification-configurations', { name: world.unique('renamed') }),
    },
    {
      ...configuration,
      route: 'DELETE /notification-configurations/:id',
      status: 204,
      trail: ['notification_configuration destroy'],
      fresh: true,
    },
    verifyRow(configuration),
  ];
};

const [ofWorkspace, ofOrganization, ...ofTeams] = OWNERS.map(rowsOf);

export const notificationsOfWorkspaces: readonly MatrixRow[] = ofWorkspace ?? [];
export const notificationsOfOrganizations: readonly MatrixRow[] = ofOrganization ?? [];
export const notificationsOfTeams: readonly MatrixRow[] = ofTeams.flat();
