import { makePolicy, makePolicySet, newPolicy, newPolicySet } from '../../support/policies.js';
import { resource } from '../../support/seeds.js';
import type { MatrixRow, MatrixTarget } from '../matrix.js';
import { createTarget, inAcme, organization } from '../targets.js';

const POLICIES = '/organizations/:organization/policies';
const SETS = '/organizations/:organization/policy-sets';

const policy: MatrixTarget = {
  ...createTarget(inAcme, 'policy'),
  fresh: async (_, { server, acme, unique }) => ({
    params: { id: await makePolicy(server, acme.name, unique('policy')) },
  }),
};

const policySet: MatrixTarget = {
  ...createTarget(inAcme, 'policySet'),
  fresh: async (_, { server, acme, unique }) => ({
    params: { id: await makePolicySet(server, acme.name, unique('policy-set')) },
  }),
};

const membersOf = (target: MatrixTarget): MatrixTarget => ({
  ...target,
  params: (...input) => ({ ...target.params(...input), relation: 'policies' }),
  fresh: async (_, { server, acme, unique, resources }) => ({
    params: {
      id: await makePolicySet(server, acme.name, unique('policy-set'), {}, { policies: [resources.otherPolicy] }),
      relation: 'policies',
    },
  }),
});

/** Policies and policy sets of organizations. */
export const policyRows: readonly MatrixRow[] = [
  {
    route: `GET ${POLICIES}`,
    about: organization,
    demands: ['read-policies'],
    status: 200,
    shows: () => ['other-policy', 'policy'],
  },
  {
    route: `POST ${POLICIES}`,
    about: organization,
    demands: ['manage-policies'],
    status: 201,
    trail: ['policy create'],
    bodyFor: ({ world }) => newPolicy(world.unique('created')),
  },
  { route: 'GET /policies/:id', about: policy, demands: ['read-policies'], status: 200 },
  {
    route: 'PATCH /policies/:id',
    about: policy,
    demands: ['manage-policies'],
    status: 200,
    trail: ['policy update'],
    fresh: true,
    body: resource('policies', { description: 'changed' }),
  },
  {
    route: 'DELETE /policies/:id',
    about: policy,
    demands: ['manage-policies'],
    status: 204,
    trail: ['policy destroy'],
    fresh: true,
  },
  {
    route: 'PUT /policies/:id/upload',
    about: policy,
    demands: ['manage-policies'],
    status: 200,
    trail: ['policy update'],
    fresh: true,
    body: 'package another',
  },
  { route: 'GET /policies/:id/download', about: policy, demands: ['read-policies'], status: 200 },
  {
    route: `GET ${SETS}`,
    about: organization,
    demands: ['read-policies'],
    status: 200,
    shows: () => ['policy-set'],
  },
  {
    route: `POST ${SETS}`,
    about: organization,
    demands: ['manage-policies'],
    status: 201,
    trail: ['policy_set create'],
    bodyFor: ({ world }) => newPolicySet(world.unique('created')),
  },
  { route: 'GET /policy-sets/:id', about: policySet, demands: ['read-policies'], status: 200 },
  {
    route: 'PATCH /policy-sets/:id',
    about: policySet,
    demands: ['manage-policies'],
    status: 200,
    trail: ['policy_set update'],
    fresh: true,
    body: resource('policy-sets', { overridable: true }),
  },
  {
    route: 'DELETE /policy-sets/:id',
    about: policySet,
    demands: ['manage-policies'],
    status: 204,
    trail: ['policy_set destroy'],
    fresh: true,
  },
  {
    route: 'POST /policy-sets/:id/relationships/:relation',
    about: membersOf(policySet),
    demands: ['manage-policies'],
    status: 204,
    trail: ['policy_set update'],
    fresh: true,
    bodyFor: ({ world }) => ({ data: [{ type: 'policies', id: world.resources.policy }] }),
  },
  {
    route: 'DELETE /policy-sets/:id/relationships/:relation',
    about: membersOf(policySet),
    demands: ['manage-policies'],
    status: 204,
    trail: ['policy_set update'],
    fresh: true,
    bodyFor: ({ world }) => ({ data: [{ type: 'policies', id: world.resources.otherPolicy }] }),
  },
];
