import { notFound, sql, unprocessable } from '#platform/kernel';
import { refuseTakenName, type Database } from '#platform/postgres';
import {
  changeResource,
  describeRename,
  recoverResource,
  requireCurrentAccess,
  requirePermission,
  selectProjectGrants,
  type Actor,
  type PermissionScope,
  type RecoveredResource,
} from '#api/access';
import { buildSnapshotJson, selectStreamVersions, type EventStore } from '#storage/event-store';
import type { StreamSnapshot, StreamVersion } from '#storage/event-store';
import { refuseTakenKey } from '../variables/variables.refusals.js';
import { variableSet } from './variable-set.js';

type DeletedVariableSetForCommand = PermissionScope & {
  readonly id: string;
  readonly organization: string;
  readonly project: string | null;
  readonly hasProject: boolean;
  readonly preconditions: readonly StreamVersion[];
  readonly snapshot: StreamSnapshot;
};

/** Returns the deleted set, or an existing one, whose recovery is refused with a reason. */
const loadDeletedVariableSet = async (
  database: Database,
  actor: Actor,
  id: string,
): Promise<DeletedVariableSetForCommand> => {
  const row = await database.row<DeletedVariableSetForCommand>(sql`
    select d.id, d.organization, d.project, ${selectProjectGrants(actor, sql.raw('d.project'))} as grants,
           exists (select from projects p where p.id = d.project) as "hasProject",
           ${selectStreamVersions(sql.raw('array[d.organization, d.project]'))} as preconditions,
           ${buildSnapshotJson('s')} as snapshot
      from (select id, organization, contents ->> 'project' as project from deleted_variable_sets
              where deleted_with is null
             union all select id, organization, project from variable_sets) d
      join event_store.streams s on s.stream = d.id
     where d.id = ${id} and ${requireCurrentAccess(actor)}`);
  if (!row) throw notFound();
  requirePermission(actor, 'read-variable-sets', row);
  requirePermission(actor, 'manage-variable-sets', row);
  return row;
};

const refuseTaken = refuseTakenName(
  'variable_sets_organization_name_key',
  'name',
  'rename the other variable set, or send another name',
);

/** Brings a deleted variable set back under its id, with its variables and the targets that still exist. */
export const recoverVariableSet = (
  store: EventStore,
  { id, name, actor }: { readonly id: string; readonly name: string | undefined; readonly actor: Actor },
): Promise<RecoveredResource> =>
  recoverResource(store, variableSet, {
    actor,
    load: () => loadDeletedVariableSet(store.database, actor, id),
    command: ({ project, hasProject }, last) => {
      if (last && project !== null && !hasProject)
        throw unprocessable(`Project ${project} owns the variable set and is deleted: recover the project first`);
      return { type: 'RecoverVariableSet', data: { name } };
    },
    describe: ({ project }, last) => ({
      name: name ?? last.name,
      project,
      changes: describeRename(name, last.name),
    }),
  })
    .catch(refuseTaken)
    .catch(refuseTakenKey);

/** Ends a deleted variable set before its time. */
export const purgeVariableSet = async (
  store: EventStore,
  { id, actor }: { readonly id: string; readonly actor: Actor },
): Promise<void> => {
  await changeResource(store, variableSet, {
    actor,
    load: () => loadDeletedVariableSet(store.database, actor, id),
    command: { type: 'PurgeVariableSet', data: { expired: false } },
  });
};
