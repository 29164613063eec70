import { z } from 'zod';
import {
  always,
  describeBody,
  defineResource,
  describeController,
  describeResourceBody,
  exampleText,
  pageParameters,
  parameter,
  related,
} from '#api/json-api/description';
import {
  createPolicySetBody,
  policySetMembersBody,
  PolicySetsController,
  updatePolicySetBody,
} from './policy-sets.controller.js';

const count = z.int().meta({ examples: [1] });
const time = z.iso.datetime().meta({ examples: ['2026-11-29T12:00:00.000Z'] });

export const policySetSchema = defineResource({
  name: 'PolicySet',
  type: 'policy-sets',
  noun: 'policy set',
  description: 'Policies that the plans of some workspaces, or of all, must pass.',
  exampleId: 'polset-3yVQZvHzf5j3WRJ1',
  attributes: {
    'agent-enabled': always(true),
    'created-at': time,
    description: exampleText('Rules of the security team'),
    global: z.boolean().meta({ description: 'Whether it belongs to every workspace.', examples: [false] }),
    kind: always('opa'),
    name: exampleText('security'),
    overridable: z
      .boolean()
      .meta({ description: 'Whether people can override failures of its mandatory policies.', examples: [true] }),
    'policies-path': always(null),
    'policy-count': count,
    'policy-tool-version': exampleText('latest', 'A version of OPA, or `latest`.'),
    'policy-update-patterns': z.array(z.string()).meta({ examples: [[]] }),
    'project-count': count,
    'updated-at': time,
    'vcs-repo': always(null),
    versioned: always(false),
    'workspace-count': count,
  },
  relationships: {
    'current-version': related.none(),
    'newest-version': related.none(),
    organization: related.one('organizations'),
    policies: related.many('policies'),
    'project-exclusions': related.many('projects'),
    projects: related.many('projects'),
    'workspace-exclusions': related.many('workspaces'),
    workspaces: related.many('workspaces'),
  },
  hasSelfLink: true,
});

const relation =
  'The relation is `policies`, `workspaces`, `projects`, `workspace-exclusions` or `project-exclusions`. The body lists identifiers.';

export const policySetsOperations = describeController(
  PolicySetsController,
  {
    name: 'Policy sets',
    description: 'The policies that the plans of workspaces must pass.',
    resource: policySetSchema,
  },
  {
    list: {
      query: {
        ...pageParameters(),
        'filter[workspace][id]': parameter.text(
          'Only the policy sets that belong to this workspace. HCP Terraform does not have this filter.',
        ),
      },
    },
    create: {
      description: '`kind` must be `opa`.',
      body: describeResourceBody(createPolicySetBody, { name: 'security', kind: 'opa', global: true }),
    },
    show: {},
    update: {
      description: 'Each list in the relationships replaces those that the set has.',
      body: describeResourceBody(updatePolicySetBody, { overridable: true }),
      events: ['PolicySetUpdated', 'PolicySetMembersChanged'],
    },
    destroy: { description: 'Plans that begin later are not evaluated with it. The policies stay.' },
    attach: {
      operationId: 'attachToPolicySet',
      summary: 'Add policies, workspaces, projects or exclusions to a policy set',
      description: relation,
      events: ['PolicySetMembersChanged'],
      body: describeBody(policySetMembersBody, { data: [{ type: 'policies', id: 'pol-u3S5p2Uwk21keu1s' }] }),
    },
    detach: {
      operationId: 'detachFromPolicySet',
      summary: 'Remove policies, workspaces, projects or exclusions from a policy set',
      description: relation,
      events: ['PolicySetMembersChanged'],
      body: describeBody(policySetMembersBody, { data: [{ type: 'policies', id: 'pol-u3S5p2Uwk21keu1s' }] }),
    },
  },
);
