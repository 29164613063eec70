import { notFound, sql, unprocessable } from '#platform/kernel';
import { getViolatedConstraint, refuseTakenName, type Database } from '#platform/postgres';
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
import {
  buildSnapshotJson,
  expectVersion,
  selectStreamVersions,
  type EventStore,
  type StreamSnapshot,
  type StreamVersion,
} from '#storage/event-store';
import { isPoolUsableBy } from '#organizations/agents';
import { project, type ActiveProject } from './project.js';

type DeletedProjectForCommand = PermissionScope & {
  readonly id: string;
  readonly organization: string;
  /** Null if the project has no agent pool, or may not use it. */
  readonly pool: StreamVersion | null;
  readonly preconditions: readonly StreamVersion[];
  readonly snapshot: StreamSnapshot;
};

/** Returns the deleted project, or an existing one, whose recovery is refused with a reason. */
const loadDeletedProject = async (database: Database, actor: Actor, id: string): Promise<DeletedProjectForCommand> => {
  const row = await database.row<DeletedProjectForCommand>(sql`
    select d.id, d.organization, ${selectProjectGrants(actor, sql.raw('d.id'))} as grants,
           (select jsonb_build_object('stream', sa.stream, 'version', sa.version)
              from agent_pools ap join event_store.streams sa on sa.stream = ap.id
             where ap.id = d.settings ->> 'defaultAgentPoolId' and ap.organization = d.organization
               and ${isPoolUsableBy({ project: sql.raw('d.id') })}) as pool,
           ${selectStreamVersions(sql.raw('array[d.organization]'))} as preconditions, ${buildSnapshotJson('s')} as snapshot
      from (select id, organization, contents -> 'settings' as settings from deleted_projects
             union all select id, organization, settings from projects) d
      join event_store.streams s on s.stream = d.id
     where d.id = ${id} and ${requireCurrentAccess(actor)}`);
  if (!row) throw notFound();
  requirePermission(actor, 'read-project', row);
  requirePermission(actor, 'delete-project', row);
  return row;
};

const refuseTaken = refuseTakenName(
  'projects_organization_name_key',
  'name',
  'rename the other project, or send another name',
);

/** For `catch`: the variable sets of the project come back with it. */
const refuseTakenSetName = (error: unknown): never => {
  if (getViolatedConstraint(error) !== 'variable_sets_organization_name_key') throw error;
  throw unprocessable(
    'A variable set of the project has a name that another variable set has taken: rename the other variable set',
  );
};

const isPoolUsable = ({ settings }: ActiveProject, { pool }: DeletedProjectForCommand): boolean =>
  settings.defaultAgentPoolId === null || pool !== null;

/** Describes what is not as it was before the deletion. */
const listChanges = (name: string | undefined, last: ActiveProject, row: DeletedProjectForCommand) => [
  ...describeRename(name, last.name),
  ...(isPoolUsable(last, row)
    ? []
    : [
        {
          field: 'default-agent-pool',
          detail: `The project may not use agent pool ${last.settings.defaultAgentPoolId}: the organization decides where runs execute`,
        },
      ]),
];

/** Brings a deleted project back under its id, with its tags, access of teams and variable sets. */
export const recoverProject = (
  store: EventStore,
  { id, name, actor }: { readonly id: string; readonly name: string | undefined; readonly actor: Actor },
): Promise<RecoveredResource> =>
  recoverResource(store, project, {
    actor,
    load: () => loadDeletedProject(store.database, actor, id),
    command: (row, last) => ({
      type: 'RecoverProject',
      data: { name, isPoolUsable: !last || isPoolUsable(last, row) },
    }),
    describe: (row, last) => ({ name: name ?? last.name, project: null, changes: listChanges(name, last, row) }),
    writes: ({ pool }) => (pool ? [expectVersion(pool.stream, pool.version)] : []),
  })
    .catch(refuseTaken)
    .catch(refuseTakenSetName);

/** Ends a deleted project before its time. */
export const purgeProject = async (
  store: EventStore,
  { id, actor }: { readonly id: string; readonly actor: Actor },
): Promise<void> => {
  await changeResource(store, project, {
    actor,
    load: () => loadDeletedProject(store.database, actor, id),
    command: { type: 'PurgeProject', data: { expired: false } },
  });
};
