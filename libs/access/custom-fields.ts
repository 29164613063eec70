import {
  capabilitiesOf,
  PROJECT_FIELDS,
  WORKSPACE_FIELDS,
  type Capability,
  type CustomProjectAccess,
  type Grant,
  type WorkspaceAccess,
} from './grants.js';

type Scale = readonly (string | boolean)[];

/** A field of custom access by its path in `custom`, and the values of it that give a capability. */
export type GivingField = { readonly path: readonly string[]; readonly values: readonly string[] };

const FLAG: Scale = [false, true];

const WORKSPACE_LEAST: WorkspaceAccess = {
  runs: 'read',
  variables: 'none',
  stateVersions: 'none',
  sentinelMocks: 'none',
  workspaceLocking: false,
  runTasks: false,
  policyOverrides: false,
};

const PROJECT_LEAST: CustomProjectAccess = {
  ...WORKSPACE_LEAST,
  locking: false,
  create: false,
  delete: false,
  move: false,
  project: { settings: 'read', teams: 'none', variableSets: 'none' },
};

const onWorkspace = (more: object): Grant => ({
  on: 'workspace',
  level: 'custom',
  custom: { ...WORKSPACE_LEAST, ...more },
});

const onProject = (more: object): Grant => ({ on: 'project', level: 'custom', custom: { ...PROJECT_LEAST, ...more } });

const inProject = (more: object): Grant => onProject({ project: { ...PROJECT_LEAST.project, ...more } });

const givingFields = (
  capability: Capability,
  fields: Readonly<Record<string, Scale>>,
  prefix: readonly string[],
  grantWith: (more: object) => Grant,
): GivingField[] =>
  Object.entries(fields)
    .map(([field, scale]) => ({
      path: [...prefix, field],
      values: scale.filter((value) => capabilitiesOf(grantWith({ [field]: value })).has(capability)).map(String),
    }))
    .filter(({ values }) => values.length > 0);

/**
 * Returns the fields of custom access that give a capability. The effect of a field does not depend on the other fields. So it is
 * enough to try one field at a time, with the others at their lowest value.
 */
export const customFieldsThatGive = (
  capability: Capability,
): Readonly<Record<'workspace' | 'project', readonly GivingField[]>> => ({
  workspace: givingFields(capability, { ...WORKSPACE_FIELDS, workspaceLocking: FLAG, runTasks: FLAG }, [], onWorkspace),
  project: [
    ...givingFields(
      capability,
      { ...WORKSPACE_FIELDS, runTasks: FLAG, locking: FLAG, create: FLAG, delete: FLAG, move: FLAG },
      [],
      onProject,
    ),
    ...givingFields(capability, PROJECT_FIELDS, ['project'], inProject),
  ],
});
