import { expectStatus, makeAgentToken, makeRun, reportBody, resource } from './seeds.js';
import type { ApiTestClient } from './server.js';

/** Denies plans with a resource of this name. */
export const denyResource = (name: string): string => `package rules

import rego.v1

deny contains msg if {
  some change in input.plan.resource_changes
  change.name == "${name}"
  msg := sprintf("%s is not allowed in %s", [change.address, input.run.workspace.name])
}
`;

export const newPolicy = (name: string, attributes: object = {}): object =>
  resource('policies', {
    name,
    kind: 'opa',
    query: 'data.rules.deny',
    'enforcement-level': 'mandatory',
    ...attributes,
  });

/** Creates a policy with a text. Returns its id. */
export const makePolicy = async (
  api: ApiTestClient,
  organization: string,
  name: string,
  attributes: object = {},
  text: string | null = denyResource('forbidden'),
): Promise<string> => {
  const created = await api.post(`/api/v2/organizations/${organization}/policies`, newPolicy(name, attributes));
  const id = expectStatus(created, 201).body.data.id as string;
  if (text !== null) expectStatus(await api.put(`/api/v2/policies/${id}/upload`, Buffer.from(text)), 200);
  return id;
};

export const newPolicySet = (name: string, attributes: object = {}, members: Record<string, string[]> = {}): object => {
  const relationships = Object.fromEntries(
    Object.entries(members).map(([relation, ids]) => [
      relation,
      { data: ids.map((id) => ({ type: relation.replace(/-exclusions$/, 's'), id })) },
    ]),
  );
  return resource('policy-sets', { name, kind: 'opa', ...attributes }, relationships);
};

/** Creates a policy set. Returns its id. */
export const makePolicySet = async (
  api: ApiTestClient,
  organization: string,
  name: string,
  attributes: object = {},
  members: Record<string, string[]> = {},
): Promise<string> => {
  const body = newPolicySet(name, attributes, members);
  const created = await api.post(`/api/v2/organizations/${organization}/policy-sets`, body);
  return expectStatus(created, 201).body.data.id as string;
};

/**
 * Creates a plan-only run with an advisory policy that nobody has evaluated. Deletes the policy and its set afterwards. `pool`
 * executes the runs of the workspace.
 */
export const makePolicyEvaluation = async (
  api: ApiTestClient,
  organization: string,
  workspace: string,
  pool: string,
) => {
  const agents = api.as(await makeAgentToken(api, pool));
  const policy = await makePolicy(api, organization, 'evaluated', { 'enforcement-level': 'advisory' });
  const set = await makePolicySet(api, organization, 'evaluated', {}, { policies: [policy], workspaces: [workspace] });
  const run = await makeRun(api, workspace, { 'plan-only': true });
  for (const status of ['planning', 'planned'])
    expectStatus(await agents.post(`/api/v2/runs/${run}/progress`, reportBody(status)), 200);
  for (const path of [`policy-sets/${set}`, `policies/${policy}`])
    expectStatus(await api.delete(`/api/v2/${path}`), 204);
  const stages = expectStatus(await api.get(`/api/v2/runs/${run}/task-stages?include=policy_evaluations`), 200).body;
  const [evaluation] = stages.included;
  return {
    run,
    stage: stages.data[0].id as string,
    evaluation: evaluation.id as string,
    outcome: evaluation.relationships['policy-set-outcomes'].data[0].id as string,
  };
};
