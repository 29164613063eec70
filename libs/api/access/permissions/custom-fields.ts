import {
  expandCapabilities,
  PROJECT_FIELDS,
  WORKSPACE_FIELDS,
  type Capability,
  type CustomProjectAccess,
  type Grant,
  type WorkspaceAccess,
} from './grants.js';

type FieldScale = readonly (string | boolean)[];

/** A field of custom access by its path in `custom`, with the values that include a capability. */
export type CapabilityField = { readonly path: readonly string[]; readonly values: readonly string[] };

const FLAG: FieldScale = [false, true];

const MIN_WORKSPACE_ACCESS: WorkspaceAccess = {
  runs: 'read',
  variables: 'none',
  stateVersions: 'none',
  sentinelMocks: 'none',
  workspaceLocking: false,
  runTasks: false,
  policyOverrides: false,
};

const MIN_PROJECT_ACCESS: CustomProjectAccess = {
  ...MIN_WORKSPACE_ACCESS,
  locking: false,
  create: false,
  delete: false,
  move: false,
  project: { settings: 'read', teams: 'none', variableSets: 'none' },
};

const onWorkspace = (more: object): Grant => ({
  on: 'workspace',
  level: 'custom',
  custom: { ...MIN_WORKSPACE_ACCESS, ...more },
});

const onProject = (more: object): Grant => ({
  on: 'project',
  level: 'custom',
  custom: { ...MIN_PROJECT_ACCESS, ...more },
});

const createProjectGrant = (more: object): Grant => onProject({ project: { ...MIN_PROJECT_ACCESS.project, ...more } });

const listCapabilityFields = (
  capability: Capability,
  fields: Readonly<Record<string, FieldScale>>,
  prefix: readonly string[],
  grantWith: (more: object) => Grant,
): CapabilityField[] =>
  Object.entries(fields)
    .map(([field, scale]) => ({
      path: [...prefix, field],
      values: scale.filter((value) => expandCapabilities(grantWith({ [field]: value })).has(capability)).map(String),
    }))
    .filter(({ values }) => values.length > 0);

/**
 * Returns the fields of custom access that include a capability. The effect of a field does not depend on other fields,
 * so it is enough to try one field at a time, with the others at their lowest value.
 */
export const listFieldsGranting = (
  capability: Capability,
): Readonly<Record<'workspace' | 'project', readonly CapabilityField[]>> => ({
  workspace: listCapabilityFields(
    capability,
    { ...WORKSPACE_FIELDS, workspaceLocking: FLAG, runTasks: FLAG },
    [],
    onWorkspace,
  ),
  project: [
    ...listCapabilityFields(
      capability,
      { ...WORKSPACE_FIELDS, runTasks: FLAG, locking: FLAG, create: FLAG, delete: FLAG, move: FLAG },
      [],
      onProject,
    ),
    ...listCapabilityFields(capability, PROJECT_FIELDS, ['project'], createProjectGrant),
  ],
});
