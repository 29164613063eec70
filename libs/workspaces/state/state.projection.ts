import {
  sql,
  type Projection,
  type Sql,
  type OrganizationDeleted,
  type WorkspaceEnd,
  whenWorkspaceEnds,
  getOriginalTime,
} from '#platform/kernel';
import type { WorkspaceEvent } from '#workspaces/workspaces';
import type { BackingDataEvent } from './backing-data/backing-data.js';
import type { StateVersionStatus } from './state-versions/state-versions.queries.js';

type StateOwnerDeleted = OrganizationDeleted | WorkspaceEnd;
type VersionEvent = Extract<
  WorkspaceEvent,
  {
    type:
      | 'StateVersionCreated'
      | 'StateVersionFinalized'
      | 'StateVersionPromoted'
      | 'StateVersionDiscarded'
      | 'StateVersionErrored';
  }
>;
const withStatus = (id: string, status: StateVersionStatus): Sql =>
  sql`update state_versions set status = ${status} where id = ${id}`;

type OutputEvent = Extract<WorkspaceEvent, { type: 'StateVersionFinalized' }>;

/**
 * Most events belong to the stream of the workspace (libs/workspaces/workspaces/workspaces/state-head.ts), which contains the
 * newest state. The files of a version have a stream of their own (backing-data.ts).
 */
export const stateVersions: Projection<VersionEvent | BackingDataEvent | StateOwnerDeleted> = {
  name: 'state_versions',
  // Version 2 added `format`. Processes of 0.2.0 write rows without it.
  version: 2,
  tables: ['state_versions'],
  names: [{ table: 'state_versions', column: 'created_by' }],
  on: {
    StateVersionCreated: (created, event) => sql`
      insert into state_versions
        (id, workspace, organization, created_in, serial, lineage, md5, status, intermediate, created_by, run,
         rollback_of, created_at)
      values (${created.id}, ${event.stream}, ${event.organization}, ${event.version}, ${created.serial}, ${created.lineage}, ${created.md5},
              'pending', true, ${sql.json(created.createdBy)}, ${created.run}, ${created.rollbackOf}, ${getOriginalTime(event)})`,
    StateVersionFinalized: ({ id, ...facts }, { time }) => sql`
      update state_versions
         set status = 'finalized', size = ${facts.size}, format = ${facts.format}, terraform_version = ${facts.terraformVersion},
             resources = ${facts.resources}, providers = ${sql.json(facts.providers)},
             modules = ${sql.json(facts.modules)}, finalized_at = ${time}, kept_since = ${time}
       where id = ${id}`,
    StateVersionPromoted: ({ id }) => sql`update state_versions set intermediate = false where id = ${id}`,
    StateVersionDiscarded: ({ id }) => withStatus(id, 'discarded'),
    StateVersionErrored: ({ id }) => withStatus(id, 'errored'),
    StateVersionDataSoftDeleted: (_, { stream, time }) => sql`
      update state_versions set status = 'backing_data_soft_deleted', soft_deleted_at = ${time} where id = ${stream}`,
    StateVersionDataRestored: (_, { stream, time }) => sql`
      update state_versions set status = 'finalized', kept_since = ${time}, soft_deleted_at = null
       where id = ${stream}`,
    StateVersionDataPermanentlyDeleted: (_, { stream }) => sql`
      update state_versions set status = 'backing_data_permanently_deleted', soft_deleted_at = null
       where id = ${stream}`,
    ...whenWorkspaceEnds((workspace) => sql`delete from state_versions where workspace = ${workspace}`),
    OrganizationDeleted: (_, { stream }) => sql`delete from state_versions where organization = ${stream}`,
  },
};

export const stateVersionOutputs: Projection<OutputEvent | StateOwnerDeleted> = {
  name: 'state_version_outputs',
  version: 1,
  tables: ['state_version_outputs'],
  on: {
    StateVersionFinalized: ({ id, outputs }, { stream, organization }) => sql`
      insert into state_version_outputs
        (id, state_version, workspace, organization, name, sensitive, type, detailed_type)
      select o.id, ${id}, ${stream}, ${organization}, o.name, o.sensitive, o.type, o."detailedType"
        from jsonb_to_recordset(${sql.json(outputs)}::jsonb)
          as o (id text, name text, sensitive boolean, type text, "detailedType" jsonb)`,
    ...whenWorkspaceEnds((workspace) => sql`delete from state_version_outputs where workspace = ${workspace}`),
    OrganizationDeleted: (_, { stream }) => sql`delete from state_version_outputs where organization = ${stream}`,
  },
};
