import {
  restoreRows,
  claimNames,
  moveToDeleted,
  sql,
  type Projection,
  type RecordedEvent,
  type RecoverableRows,
  type Sql,
  type OrganizationDeleted,
  type ProjectDeleted,
  type ProjectEnd,
  type ProjectRecovered,
  whenProjectEnds,
  type WorkspaceEnd,
  whenWorkspaceEnds,
  getOriginalTime,
} from '#platform/kernel';
import { buildSecretDeletion } from '#storage/vault';
import { VARIABLE_SET_TARGET_KINDS, type VariableSetEvent } from './variable-sets/variable-set.js';
import { VARIABLE_SET_NAMES } from './variable-sets/variable-set-names.js';
import type { VariableEvent } from './variables/variable.js';

type VariableOwnerEndEvent = WorkspaceEnd | ProjectEnd | ProjectRecovered | OrganizationDeleted;

const SET_ROWS: RecoverableRows = { table: 'variable_sets', deletedTable: 'deleted_variable_sets' };

/** Selects the sets of a project, also the deleted ones. */
const selectSets = (project: string): Sql => sql`
  select id from variable_sets where project = ${project}
   union all select id from deleted_variable_sets where contents ->> 'project' = ${project}`;

type VariableSetDeleted = Extract<VariableSetEvent, { type: 'VariableSetDeleted' }>;
type VariableSetRecovered = Extract<VariableSetEvent, { type: 'VariableSetRecovered' }>;

const removeSet = (set: string): readonly Sql[] => [
  sql`delete from variables where owner = ${set}`,
  sql`delete from variable_set_targets where variable_set = ${set}`,
  sql`delete from variable_sets where id = ${set}`,
  sql`delete from deleted_variable_sets where id = ${set}`,
];

const deleteSet = ({ recoverableUntil }: VariableSetDeleted['data'], event: RecordedEvent): readonly Sql[] => {
  const { stream } = event;
  if (recoverableUntil === null) return removeSet(stream);
  return [
    moveToDeleted(SET_ROWS, { where: sql`id = ${stream}` }, recoverableUntil, event),
    // Other global sets may have variables with these keys until the recovery.
    sql`update variables set global = false where owner = ${stream} and global`,
  ];
};

const recoverSet = ({ name }: VariableSetRecovered['data'], { stream, time }: RecordedEvent): readonly Sql[] => [
  restoreRows(SET_ROWS, sql`id = ${stream}`, { name, updated_at: time }),
  sql`update variables set global = true
       where owner = ${stream} and exists (select from variable_sets where id = ${stream} and global)`,
];

const removeSetsOfProject = (project: string): readonly Sql[] => [
  sql`delete from variables where owner in (${selectSets(project)})`,
  sql`delete from variable_set_targets where target = ${project} or variable_set in (${selectSets(project)})`,
  sql`delete from variable_sets where project = ${project}`,
  sql`delete from deleted_variable_sets where contents ->> 'project' = ${project}`,
];

const deleteSetsOfProject = (
  { recoverableUntil }: ProjectDeleted['data'],
  event: RecordedEvent,
): Sql | readonly Sql[] => {
  const { stream } = event;
  if (recoverableUntil === null) return removeSetsOfProject(stream);
  const rows = { where: sql`project = ${stream}`, columns: { deleted_with: sql`${stream}::text` } };
  return moveToDeleted(SET_ROWS, rows, recoverableUntil, event);
};

/** One projection for these tables, because the row of a variable depends on the row of its set. */
export const variables: Projection<VariableEvent | VariableSetEvent | VariableOwnerEndEvent> = {
  name: 'variables',
  // Earlier versions do not write the last table.
  version: 2,
  tables: ['variables', 'variable_set_targets', 'variable_sets', 'deleted_variable_sets'],
  names: [{ table: 'deleted_variable_sets', column: 'deleted_by' }],
  on: {
    VariableCreated: (data, { stream, organization, version, time }) => sql`
      insert into variables (id, organization, owner, global, key, category, value, description, hcl, sensitive, version,
                             created_at)
      values (${stream}, ${organization}, ${data.owner.id},
              exists (select 1 from variable_sets where id = ${data.owner.id} and global),
              ${data.key}, ${data.category}, ${data.value}, ${data.description}, ${data.hcl}, ${data.sensitive},
              ${version}, ${time})`,
    VariableUpdated: ({ changes }, { stream, version }) => sql`
      update variables
         set key = coalesce(${changes.key ?? null}, key), category = coalesce(${changes.category ?? null}, category),
             hcl = coalesce(${changes.hcl ?? null}, hcl), sensitive = coalesce(${changes.sensitive ?? null}, sensitive),
             value = case when ${changes.value !== undefined} then ${changes.value ?? null} else value end,
             description = case when ${changes.description !== undefined} then ${changes.description ?? null}
                                else description end,
             version = ${version}
       where id = ${stream}`,
    VariableDeleted: (_, { stream }) => sql`delete from variables where id = ${stream}`,
    VariableSetCreated: ({ name, description, global, priority, project }, event) => sql`
      insert into variable_sets (id, organization, project, name, description, global, priority, created_at, updated_at)
      values (${event.stream}, ${event.organization}, ${project}, ${name}, ${description}, ${global}, ${priority},
              ${getOriginalTime(event)}, ${getOriginalTime(event)})`,
    VariableSetUpdated: ({ changes }, { stream, time }) => [
      sql`
      update variable_sets
         set name = coalesce(${changes.name ?? null}, name), global = coalesce(${changes.global ?? null}, global),
             priority = coalesce(${changes.priority ?? null}, priority),
             description = case when ${changes.description !== undefined} then ${changes.description ?? null}
                                else description end,
             updated_at = ${time}
       where id = ${stream}`,
      ...(changes.global === undefined
        ? []
        : [sql`update variables set global = ${changes.global} where owner = ${stream}`]),
    ],
    VariableSetApplied: (targets, { stream, organization, time }) => [
      ...VARIABLE_SET_TARGET_KINDS.map(
        (kind) => sql`
          insert into variable_set_targets (variable_set, kind, target, organization)
          select ${stream}, ${kind}, target, ${organization} from unnest(${targets[kind]}::text[]) target`,
      ),
      sql`update variable_sets set updated_at = ${time} where id = ${stream}`,
    ],
    VariableSetWithdrawn: ({ workspaces, projects }, { stream, time }) => [
      sql`delete from variable_set_targets
           where variable_set = ${stream} and target = any (${[...workspaces, ...projects]}::text[])`,
      sql`update variable_sets set updated_at = ${time} where id = ${stream}`,
    ],
    VariableSetDeleted: deleteSet,
    VariableSetRecovered: recoverSet,
    VariableSetPurged: (_, { stream }) => removeSet(stream),
    ...whenWorkspaceEnds((workspace) => [
      sql`delete from variables where owner = ${workspace}`,
      sql`delete from variable_set_targets where target = ${workspace}`,
    ]),
    ProjectDeleted: deleteSetsOfProject,
    ProjectRecovered: (_, { stream }) => restoreRows(SET_ROWS, sql`deleted_with = ${stream}`, {}),
    ProjectPurged: (_, { stream }) => removeSetsOfProject(stream),
    OrganizationDeleted: (_, { stream }) => [
      sql`delete from variables where organization = ${stream}`,
      sql`delete from variable_set_targets where organization = ${stream}`,
      sql`delete from variable_sets where organization = ${stream}`,
      sql`delete from deleted_variable_sets where organization = ${stream}`,
    ],
  },
};

type SecretEndEvent = Extract<VariableEvent, { type: 'VariableDeleted' }> | WorkspaceEnd | ProjectEnd;

/**
 * Deletes secrets from the vault in the transaction that deletes their variable or its owner. `tables` is empty, so a
 * rebuild does not replay it. It is listed before `variables`, because it finds the secrets through rows that
 * `variables` deletes. The vault itself handles the deletion of organizations.
 */
export const variableSecrets: Projection<
  SecretEndEvent | Extract<VariableSetEvent, { type: 'VariableSetDeleted' | 'VariableSetPurged' }>
> = {
  name: 'variable_secrets',
  tables: [],
  on: {
    VariableDeleted: (_, { stream }) => buildSecretDeletion(sql`${stream}`),
    VariableSetDeleted: ({ recoverableUntil }, { stream }) =>
      recoverableUntil === null ? deleteSecretsOf(sql`${stream}`) : null,
    VariableSetPurged: (_, { stream }) => deleteSecretsOf(sql`${stream}`),
    ...whenWorkspaceEnds((workspace) => deleteSecretsOf(sql`${workspace}`)),
    ...whenProjectEnds((project) => deleteSecretsOf(selectSets(project))),
  },
};

const deleteSecretsOf = (owners: Sql): Sql =>
  buildSecretDeletion(sql`select id from variables where sensitive and owner in (${owners})`);

/** Keeps names unique regardless of case. `tables` is empty, because a rebuild must accept names that are older. */
export const variableSetNames: Projection<
  | Extract<VariableSetEvent, { type: 'VariableSetCreated' | 'VariableSetUpdated' | 'VariableSetRecovered' }>
  | ProjectRecovered
> = {
  name: 'variable_set_names',
  tables: [],
  on: {
    VariableSetCreated: (_, { stream }) => claimNames(VARIABLE_SET_NAMES, [stream]),
    VariableSetUpdated: ({ changes }, { stream }) =>
      changes.name === undefined ? null : claimNames(VARIABLE_SET_NAMES, [stream]),
    VariableSetRecovered: (_, { stream }) => claimNames(VARIABLE_SET_NAMES, [stream]),
    ProjectRecovered: (_, { stream }) =>
      claimNames(VARIABLE_SET_NAMES, sql`array(select id from variable_sets where project = ${stream})`),
  },
};
