import type { ConsolePolicySet } from '../../api/policy-sets.js';
import { listChanges } from '../../components/form.js';

export const LATEST = 'latest';

export type PolicySetValues = {
  readonly name: string;
  readonly description: string;
  readonly global: boolean;
  readonly overridable: boolean;
  readonly 'policy-tool-version': string;
  readonly policies: readonly string[];
  readonly workspaces: readonly string[];
  readonly projects: readonly string[];
  readonly 'workspace-exclusions': readonly string[];
  readonly 'project-exclusions': readonly string[];
};

export const NEW_POLICY_SET: PolicySetValues = {
  name: '',
  description: '',
  global: false,
  overridable: false,
  'policy-tool-version': LATEST,
  policies: [],
  workspaces: [],
  projects: [],
  'workspace-exclusions': [],
  'project-exclusions': [],
};

const listIds = ({ data }: { readonly data: readonly { readonly id: string }[] }): readonly string[] =>
  data.map(({ id }) => id);

export const toPolicySetValues = ({ attributes, relationships }: ConsolePolicySet): PolicySetValues => ({
  name: attributes.name,
  description: attributes.description,
  global: attributes.global,
  overridable: attributes.overridable,
  'policy-tool-version': attributes['policy-tool-version'],
  policies: listIds(relationships.policies),
  workspaces: listIds(relationships.workspaces),
  projects: listIds(relationships.projects),
  'workspace-exclusions': listIds(relationships['workspace-exclusions']),
  'project-exclusions': listIds(relationships['project-exclusions']),
});

const refer = <T extends string>(type: T, ids: readonly string[]) => ({ data: ids.map((id) => ({ type, id })) });

/** A global set has no workspaces and projects of its own. */
export const toPolicySetRequest = ({ name = '', ...values }: Partial<PolicySetValues>) => {
  const { policies, workspaces, projects, ...others } = values;
  const { 'workspace-exclusions': workspaceExclusions, 'project-exclusions': projectExclusions, ...rest } = others;
  const isGlobal = values.global === true;
  return {
    attributes: { ...rest, ...(name === '' ? {} : { name }) },
    relationships: {
      ...(policies ? { policies: refer('policies', policies) } : {}),
      ...(workspaces && !isGlobal ? { workspaces: refer('workspaces', workspaces) } : {}),
      ...(projects && !isGlobal ? { projects: refer('projects', projects) } : {}),
      ...(workspaceExclusions ? { 'workspace-exclusions': refer('workspaces', workspaceExclusions) } : {}),
      ...(projectExclusions ? { 'project-exclusions': refer('projects', projectExclusions) } : {}),
    },
  };
};

const isSame = (before: unknown, after: unknown): boolean => JSON.stringify(before) === JSON.stringify(after);

/** Returns what the person has changed, so that the changes of other people stay. */
export const listPolicySetChanges = (present: PolicySetValues, values: PolicySetValues): Partial<PolicySetValues> =>
  Object.fromEntries(
    Object.entries(listChanges(present, values)).filter(
      ([name, value]) => !isSame(present[name as keyof PolicySetValues], value),
    ),
  );
