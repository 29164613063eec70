import {
  claimNames,
  sql,
  type Projection,
  type Sql,
  type OrganizationDeleted,
  type ProjectDeleted,
  type WorkspaceEnd,
  whenWorkspaceEnds,
} from '#platform/kernel';
import { buildSecretDeletion } from '#storage/vault';
import { VARIABLE_SET_TARGET_KINDS, type VariableSetEvent } from './variable-sets/variable-set.js';
import { VARIABLE_SET_NAMES } from './variable-sets/variable-set-names.js';
import type { VariableEvent } from './variables/variable.js';

type VariableOwnerEndEvent = WorkspaceEnd | ProjectDeleted | OrganizationDeleted;

const selectSets = (project: string): Sql => sql`select id from variable_sets where project = ${project}`;

/** One projection for three tables, because the row of a variable depends on the row of its set. */
export const variables: Projection<VariableEvent | VariableSetEvent | VariableOwnerEndEvent> = {
  name: 'variables',
  version: 1,
  tables: ['variables', 'variable_set_targets', 'variable_sets'],
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
    VariableSetCreated: ({ name, description, global, priority, project }, { stream, organization, time }) => sql`
      insert into variable_sets (id, organization, project, name, description, global, priority, created_at, updated_at)
      values (${stream}, ${organization}, ${project}, ${name}, ${description}, ${global}, ${priority}, ${time}, ${time})`,
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
    VariableSetDeleted: (_, { stream }) => [
      sql`delete from variables where owner = ${stream}`,
      sql`delete from variable_set_targets where variable_set = ${stream}`,
      sql`delete from variable_sets where id = ${stream}`,
    ],
    ...whenWorkspaceEnds((workspace) => [
      sql`delete from variables where owner = ${workspace}`,
      sql`delete from variable_set_targets where target = ${workspace}`,
    ]),
    ProjectDeleted: (_, { stream }) => [
      sql`delete from variables where owner in (${selectSets(stream)})`,
      sql`delete from variable_set_targets where target = ${stream} or variable_set in (${selectSets(stream)})`,
      sql`delete from variable_sets where project = ${stream}`,
    ],
    OrganizationDeleted: (_, { stream }) => [
      sql`delete from variables where organization = ${stream}`,
      sql`delete from variable_set_targets where organization = ${stream}`,
      sql`delete from variable_sets where organization = ${stream}`,
    ],
  },
};

type SecretEndEvent =
  Extract<VariableEvent, { type: 'VariableDeleted' }> | Exclude<VariableOwnerEndEvent, { type: 'OrganizationDeleted' }>;

/**
 * Deletes secrets from the vault in the transaction that deletes their variable or its owner. `tables` is empty, so a
 * rebuild does not replay it. It is listed before `variables`, because it finds the secrets through rows that
 * `variables` deletes. The vault itself handles the deletion of organizations.
 */
export const variableSecrets: Projection<SecretEndEvent | Extract<VariableSetEvent, { type: 'VariableSetDeleted' }>> = {
  name: 'variable_secrets',
  tables: [],
  on: {
    VariableDeleted: (_, { stream }) => buildSecretDeletion(sql`${stream}`),
    VariableSetDeleted: (_, { stream }) => deleteSecretsOf(sql`${stream}`),
    ...whenWorkspaceEnds((workspace) => deleteSecretsOf(sql`${workspace}`)),
    ProjectDeleted: (_, { stream }) => deleteSecretsOf(selectSets(stream)),
  },
};

const deleteSecretsOf = (owners: Sql): Sql =>
  buildSecretDeletion(sql`select id from variables where sensitive and owner in (${owners})`);

/** Keeps names unique regardless of case. `tables` is empty, because a rebuild must accept names that are older. */
export const variableSetNames: Projection<
  Extract<VariableSetEvent, { type: 'VariableSetCreated' | 'VariableSetUpdated' }>
> = {
  name: 'variable_set_names',
  tables: [],
  on: {
    VariableSetCreated: (_, { stream }) => claimNames(VARIABLE_SET_NAMES, [stream]),
    VariableSetUpdated: ({ changes }, { stream }) =>
      changes.name === undefined ? null : claimNames(VARIABLE_SET_NAMES, [stream]),
  },
};
