import { makePolicy, makePolicySet, newPolicy, newPolicySet } from '../support/policies.js';
import { expectStatus, resource } from '../support/seeds.js';
import type { AuditedAction, CatalogueWorld } from './audit-catalogue.actions.js';

const policyById = (id: string): string => `/api/v2/policies/${id}`;
const setById = (id: string): string => `/api/v2/policy-sets/${id}`;

const policyMeta = (name: string) => ({
  policy_name: name,
  policy_kind: 'opa',
  policy_query: 'data.rules.deny',
  policy_enforcement_level: 'mandatory',
});

const setMeta = (name: string) => ({
  policy_set_name: name,
  policy_set_kind: 'opa',
  policy_set_global: false,
  policy_set_overridable: false,
  policy_set_tool_version: null,
});

const aPolicy = async (world: CatalogueWorld) => {
  const name = world.unique('policy');
  return { name, id: await makePolicy(world.owner, world.name, name, {}, null) };
};

const aSet = async (world: CatalogueWorld) => {
  const name = world.unique('policy-set');
  return { name, id: await makePolicySet(world.owner, world.name, name) };
};

/** Actions for the rows of policies and policy sets. */
export const POLICY_ACTIONS: Readonly<Record<string, AuditedAction>> = {
  'policy.create': async (world) => {
    const name = world.unique('policy');
    const answer = await world.owner.post(`/api/v2/organizations/${world.name}/policies`, newPolicy(name));
    return { answer, id: expectStatus(answer, 201).body.data.id as string, meta: policyMeta(name) };
  },
  'policy.update': async (world) => {
    const { id, name } = await aPolicy(world);
    const body = resource('policies', { 'enforcement-level': 'advisory' });
    const answer = expectStatus(await world.owner.patch(policyById(id), body), 200);
    return { answer, id, meta: { ...policyMeta(name), policy_enforcement_level: 'advisory' } };
  },
  'policy.destroy': async (world) => {
    const { id, name } = await aPolicy(world);
    return { answer: expectStatus(await world.owner.delete(policyById(id)), 204), id, meta: policyMeta(name) };
  },
  'policy_set.create': async (world) => {
    const name = world.unique('policy-set');
    const answer = await world.owner.post(`/api/v2/organizations/${world.name}/policy-sets`, newPolicySet(name));
    const members = {
      policies: [],
      workspaces: [],
      projects: [],
      workspace_exclusions: [],
      project_exclusions: [],
    };
    const id = expectStatus(answer, 201).body.data.id as string;
    return { answer, id, meta: { ...setMeta(name), ...members } };
  },
  'policy_set.update': async (world) => {
    const { id, name } = await aSet(world);
    const { id: policy } = await aPolicy(world);
    const body = { data: [{ type: 'policies', id: policy }] };
    const answer = expectStatus(await world.owner.post(`${setById(id)}/relationships/policies`, body), 204);
    return { answer, id, meta: { ...setMeta(name), added: { policies: [policy] }, removed: {} } };
  },
  'policy_set.destroy': async (world) => {
    const { id, name } = await aSet(world);
    return { answer: expectStatus(await world.owner.delete(setById(id)), 204), id, meta: setMeta(name) };
  },
};
