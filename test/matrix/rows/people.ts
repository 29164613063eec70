import { SITE_SCOPE } from '#api/access';
import { ensureUser } from '#identity/people';
import { makeToken, resource } from '../../support/seeds.js';
import { enableTotp, makePerson } from '../../support/sign-in.js';
import type { MatrixRow, MatrixTarget } from '../matrix.js';
import { anOwner, inAcme, currentUser, member, organization, plainMember, site, getTarget } from '../targets.js';
import type { MatrixCallerInWorld, MatrixWorld } from '../shared-world.js';

/** A user without organizations. */
const visitor: MatrixTarget = {
  scope: () => SITE_SCOPE,
  params: (_, world) => ({ id: plainMember(world).id }),
  fresh: async (_, { server, unique }) => {
    const { id } = await ensureUser(server.store, server.runtime.ids, unique('visitor'), false);
    return { params: { id } };
  },
};

const users: readonly MatrixRow[] = [
  { route: 'GET /account/details', about: site, demands: 'any token', status: 200 },
  ...['/account/details', '/account/update'].map((path): MatrixRow => ({
    route: `PATCH ${path}`,
    about: currentUser,
    demands: ['update-account'],
    status: 200,
    trail: ['user update'],
    bodyFor: ({ world }) => resource('users', { username: world.unique('renamed') }),
    tearDown: async ({ callers }) => {
      for (const { api, short, authentication } of callers)
        if (authentication === 'user')
          await api.patch('/api/v2/account/details', resource('users', { username: short }));
    },
  })),
  {
    route: 'PATCH /account/details',
    condition: 'their address',
    about: currentUser,
    demands: ['update-account'],
    status: 200,
    trail: ['user update'],
    bodyFor: ({ world }) => resource('users', { email: `${world.unique('moved')}@people.test` }),
  },
  { route: 'GET /users/:id/avatar', about: member, demands: 'anybody', status: 200 },
  { route: 'GET /users/:id', about: member, demands: ['read-user'], status: 200 },
  ...(['suspend', 'unsuspend'] as const).map((action): MatrixRow => ({
    route: `POST /admin/users/:id/actions/${action}`,
    about: visitor,
    demands: ['suspend-user'],
    status: 200,
    trail: [`user ${action}`],
    fresh: true,
    before: async ({ world, params }) =>
      action === 'unsuspend' && world.server.post(`/api/v2/admin/users/${params['id']}/actions/suspend`),
  })),
  { route: 'GET /admin/users', about: site, demands: ['manage-site'], status: 200 },
  ...(['grant_admin', 'revoke_admin'] as const).map((action): MatrixRow => ({
    route: `POST /admin/users/:id/actions/${action}`,
    about: visitor,
    demands: ['manage-site-admins'],
    status: 200,
    trail: [`user ${action}`],
    fresh: true,
    before: async ({ world, params }) =>
      action === 'revoke_admin' && world.server.post(`/api/v2/admin/users/${params['id']}/actions/grant_admin`),
  })),
  {
    route: 'POST /admin/users/:id/actions/disable_two_factor',
    about: {
      ...visitor,
      fresh: async (_, { server, unique }) => ({ params: { id: await makePerson(server, unique('visitor')) } }),
    },
    demands: ['disable-two-factor'],
    status: 200,
    trail: ['session destroy', 'sign_in_methods update'],
    fresh: true,
    before: ({ world, params }) => enableTotp(world.server, params['id'] ?? ''),
  },
  {
    route: 'DELETE /admin/users/:id',
    about: {
      scope: () => SITE_SCOPE,
      params: (_, world) => ({ id: plainMember(world).id }),
      // An invited user, who leaves the organization when they are deleted.
      fresh: async (_, { server, acme, unique }) => {
        const body = resource('organization-memberships', { email: `${unique('guest')}@people.test` });
        const response = await server.post(`/api/v2/organizations/${acme.name}/organization-memberships`, body);
        return { params: { id: response.body.data.relationships.user.data.id as string } };
      },
    },
    demands: ['forget-user'],
    status: 204,
    trail: ['organization_user destroy', 'user forget'],
    fresh: true,
  },
];

const membership: MatrixTarget = {
  ...member,
  params: (_, world) => ({ id: plainMember(world).membership }),
  fresh: async (_, { server, acme, unique }) => {
    const body = resource('organization-memberships', { email: `${unique('guest')}@people.test` });
    const response = await server.post(`/api/v2/organizations/${acme.name}/organization-memberships`, body);
    return { params: { id: response.body.data.id as string } };
  },
};
/** An invitation that is not accepted yet. */
const invitation: MatrixTarget = {
  scope: (_, world) => ({ organization: world.acme.id, user: invited(world).id }),
  params: (_, world) => ({ id: invited(world).membership }),
  // Users that an administrator of the site invites need not accept. Users that an owner invites have to.
  fresh: async (caller, world) => {
    const { server, acme, unique } = world;
    const body = resource('organization-memberships', { email: `${unique('guest')}@people.test` });
    const response = await anOwner(world).api.post(`/api/v2/organizations/${acme.name}/organization-memberships`, body);
    const id = response.body.data.id as string;
    if (caller.name !== invited(world).name) return { params: { id } };
    // The inviter does not see the account. An administrator of the site does.
    const membershipResponse = await server.get(`/api/v2/organization-memberships/${id}`);
    const user = membershipResponse.body.data.relationships.user.data.id as string;
    return { params: { id }, api: server.as(await makeToken(server, `/api/v2/users/${user}/authentication-tokens`)) };
  },
};
const invited = ({ callers }: MatrixWorld): MatrixCallerInWorld => getTarget(callers, 'invited, not accepted');

/** The caller's own membership, or that of a plain member if the caller has none in acme. */
const ownMembership: MatrixTarget = {
  scope: (caller, world) => ({
    organization: world.acme.id,
    user: hasOwn(caller) ? caller.id : plainMember(world).id,
  }),
  params: (caller, world) => ({ id: hasOwn(caller) ? caller.membership : plainMember(world).membership }),
};
const hasOwn = ({ membership: id, foreign }: MatrixCallerInWorld): boolean => id !== '' && !foreign;

const ownersMembership: MatrixTarget = {
  scope: (_, world) => ({ organization: world.acme.id, user: anOwner(world).id }),
  params: (_, world) => ({ id: anOwner(world).membership }),
  fresh: async (_, { server, acme, unique }) => {
    const body = resource(
      'organization-memberships',
      { email: `${unique('guest')}@people.test` },
      { teams: { data: [{ type: 'teams', id: acme.ownersTeam }] } },
    );
    const response = await server.post(`/api/v2/organizations/${acme.name}/organization-memberships`, body);
    return { params: { id: response.body.data.id as string } };
  },
};

const MEMBERSHIPS = '/organizations/:organization/organization-memberships';

const memberships: readonly MatrixRow[] = [
  {
    route: 'GET /organization-memberships',
    about: site,
    demands: 'any token',
    status: 200,
    nameOf: ({ relationships }) => relationships.organization.data.id as string,
    shows: ({ caller }) => (caller.membership === '' ? [] : [caller.foreign ? 'rival' : 'acme']),
  },
  {
    route: `GET ${MEMBERSHIPS}`,
    about: organization,
    demands: ['read-memberships'],
    status: 200,
    trail: ['user index'],
  },
  {
    route: `POST ${MEMBERSHIPS}`,
    about: organization,
    demands: ['manage-memberships'],
    status: 201,
    trail: ['user create', 'organization_user create'],
    bodyFor: ({ world }) => resource('organization-memberships', { email: `${world.unique('guest')}@people.test` }),
  },
  { route: 'GET /organization-memberships/:id', about: membership, demands: ['read-memberships'], status: 200 },
  {
    route: 'GET /organization-memberships/:id',
    condition: 'their own',
    about: ownMembership,
    demands: ['read-memberships'],
    status: 200,
  },
  {
    route: 'POST /organization-memberships/:id/actions/accept',
    about: invitation,
    demands: ['accept-membership'],
    status: 200,
    trail: ['organization_user update'],
    fresh: true,
  },
  {
    route: 'POST /organization-memberships/:id/actions/accept',
    condition: 'that has been accepted',
    about: membership,
    demands: ['accept-membership'],
    status: 200,
    trail: [],
    inert: true,
  },
  {
    route: 'DELETE /organization-memberships/:id',
    // The target is not the membership of a caller, because every member may leave.
    about: { ...membership, params: (_, world) => ({ id: world.guest }), scope: inAcme },
    demands: ['read-memberships', 'manage-memberships'],
    status: 204,
    trail: ['organization_user destroy'],
    fresh: true,
  },
  {
    route: 'DELETE /organization-memberships/:id',
    condition: 'an owner’s',
    about: { ...ownersMembership, params: (_, world) => ({ id: world.guestOwner }), scope: inAcme },
    demands: ['read-memberships', 'manage-owners'],
    status: 204,
    trail: ['organization_user destroy', 'team remove_member'],
    fresh: true,
  },
];

export const people: readonly MatrixRow[] = [...users, ...memberships];
