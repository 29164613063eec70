import {
  sql,
  type DataOf,
  type Projection,
  type Sql,
  type Timestamp,
  type OrganizationDeleted,
  type WorkspaceDeleted,
} from '#platform/kernel';
import type { ConfigurationStatus, ConfigurationVersionEvent } from './configuration-version.js';

type ConfigurationOwnerDeleted = OrganizationDeleted | WorkspaceDeleted;

/** Sets the status and its time. */
const setStatus = (id: string, status: ConfigurationStatus, time: Timestamp, more: Sql = sql.empty): Sql => sql`
  update configuration_versions
     set status = ${status}, reached = reached || ${sql.json({ [status]: time })}::jsonb ${more}
   where id = ${id}`;

const setArchive = (
  id: string,
  { size, archive }: DataOf<ConfigurationVersionEvent, 'ConfigurationVersionUploaded'>,
  time: Timestamp,
): Sql => setStatus(id, 'uploaded', time, sql`, size = ${size}, archive = ${archive}, kept_since = ${time}`);

export const configurationVersions: Projection<ConfigurationVersionEvent | ConfigurationOwnerDeleted> = {
  name: 'configuration_versions',
  version: 1,
  tables: ['configuration_versions'],
  names: [{ table: 'configuration_versions', column: 'created_by' }],
  on: {
    ConfigurationVersionCreated: (created, { stream, organization, time }) => sql`
      insert into configuration_versions
        (id, workspace, organization, source, auto_queue_runs, speculative, provisional, created_by, may_apply, status,
         reached, created_at, current_since, ingress)
      values (${stream}, ${created.workspace}, ${organization}, ${created.source}, ${created.autoQueueRuns}, ${created.speculative},
              ${created.provisional}, ${sql.json(created.createdBy)}, ${created.mayApply}, 'pending', '{}', ${time},
              case when not ${created.speculative} and not ${created.provisional} then ${time}::timestamptz end,
              ${created.ingress && sql.json(created.ingress)})`,
    ConfigurationVersionUploaded: (uploaded, { stream, time }) => setArchive(stream, uploaded, time),
    ConfigurationVersionReplaced: (uploaded, { stream, time }) => setArchive(stream, uploaded, time),
    ConfigurationVersionErrored: ({ error, message }, { stream, time }) =>
      setStatus(stream, 'errored', time, sql`, error = ${error}, error_message = ${message}`),
    ConfigurationVersionArchived: (_, { stream, time }) => setStatus(stream, 'archived', time),
    ConfigurationVersionSoftDeleted: (_, { stream, time }) =>
      setStatus(stream, 'backing_data_soft_deleted', time, sql`, soft_deleted_at = ${time}`),
    ConfigurationVersionRestored: (_, { stream, time }) => sql`
      update configuration_versions set status = 'uploaded', kept_since = ${time}, soft_deleted_at = null
       where id = ${stream}`,
    ConfigurationVersionPermanentlyDeleted: (_, { stream, time }) =>
      setStatus(stream, 'backing_data_permanently_deleted', time, sql`, soft_deleted_at = null`),
    WorkspaceDeleted: (_, { stream }) => sql`delete from configuration_versions where workspace = ${stream}`,
    OrganizationDeleted: (_, { stream }) => sql`delete from configuration_versions where organization = ${stream}`,
  },
};
