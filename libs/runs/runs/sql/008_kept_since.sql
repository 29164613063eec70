-- Since when the archive is here: since its upload, or since it was brought back. Retention counts from there.
alter table views.configuration_versions add column kept_since timestamptz;
-- Since when the archive is soft-deleted, null otherwise.
alter table views.configuration_versions add column soft_deleted_at timestamptz;
update views.configuration_versions c
   set kept_since = greatest((c.reached ->> 'uploaded')::timestamptz,
                             (select max(e.time) from event_store.events e
                               where e.stream = c.id and e.type = 'ConfigurationVersionRestored')),
       soft_deleted_at = case when c.status = 'backing_data_soft_deleted'
                              then (c.reached ->> 'backing_data_soft_deleted')::timestamptz end
 where c.reached ? 'uploaded';

-- By age, of what has archives that can be deleted: in one workspace, and in a whole organization.
create index configuration_versions_kept_in_workspace on views.configuration_versions (workspace, kept_since, id)
  where status = 'uploaded';
create index configuration_versions_kept_in_organization on views.configuration_versions (organization, kept_since, id)
  where status = 'uploaded';
create index configuration_versions_soft_deleted on views.configuration_versions (soft_deleted_at, id)
  where status = 'backing_data_soft_deleted';

-- Whether a configuration version is in use: runs of other workspaces may use it too.
create index runs_by_configuration_version on views.runs (configuration_version);
