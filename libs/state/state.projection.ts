import { sql, type Projection } from '#kernel';
import type { OrganizationEvent } from '#organizations';
import type { WorkspaceEvent } from '#workspaces';

type OrganizationDeleted = Extract<OrganizationEvent, { type: 'OrganizationDeleted' }>;
type Deleted = OrganizationDeleted | Extract<WorkspaceEvent, { type: 'WorkspaceDeleted' }>;
type VersionEvent = Extract<
  WorkspaceEvent,
  { type: 'StateVersionCreated' | 'StateVersionFinalized' | 'StateVersionPromoted' | 'StateVersionDiscarded' }
>;
type OutputEvent = Extract<WorkspaceEvent, { type: 'StateVersionFinalized' }>;

/** The events are the workspace's (libs/workspaces/state-head.ts): its stream holds the head of its state. */
export const stateVersions: Projection<VersionEvent | Deleted> = {
  name: 'state_versions',
  tables: ['state_versions'],
  on: {
    StateVersionCreated: (born, { stream, organization, version, time }) => sql`
      insert into state_versions
        (id, workspace, organization, created_in, serial, lineage, md5, status, intermediate, created_by, run, created_at)
      values (${born.id}, ${stream}, ${organization}, ${version}, ${born.serial}, ${born.lineage}, ${born.md5},
              'pending', true, ${sql.json(born.createdBy)}, ${born.run}, ${time})`,
    StateVersionFinalized: ({ id, ...facts }, { time }) => sql`
      update state_versions
         set status = 'finalized', size = ${facts.size}, terraform_version = ${facts.terraformVersion},
             resources = ${facts.resources}, providers = ${sql.json(facts.providers)},
             modules = ${sql.json(facts.modules)}, finalized_at = ${time}
       where id = ${id}`,
    StateVersionPromoted: ({ id }) => sql`update state_versions set intermediate = false where id = ${id}`,
    StateVersionDiscarded: ({ id }) => sql`update state_versions set status = 'discarded' where id = ${id}`,
    WorkspaceDeleted: (_, { stream }) => sql`delete from state_versions where workspace = ${stream}`,
    OrganizationDeleted: (_, { stream }) => sql`delete from state_versions where organization = ${stream}`,
  },
};

export const stateVersionOutputs: Projection<OutputEvent | Deleted> = {
  name: 'state_version_outputs',
  tables: ['state_version_outputs'],
  on: {
    StateVersionFinalized: ({ id, outputs }, { stream, organization }) => sql`
      insert into state_version_outputs
        (id, state_version, workspace, organization, name, sensitive, type, detailed_type)
      select o.id, ${id}, ${stream}, ${organization}, o.name, o.sensitive, o.type, o."detailedType"
        from jsonb_to_recordset(${sql.json(outputs)}::jsonb)
          as o (id text, name text, sensitive boolean, type text, "detailedType" jsonb)`,
    WorkspaceDeleted: (_, { stream }) => sql`delete from state_version_outputs where workspace = ${stream}`,
    OrganizationDeleted: (_, { stream }) => sql`delete from state_version_outputs where organization = ${stream}`,
  },
};
