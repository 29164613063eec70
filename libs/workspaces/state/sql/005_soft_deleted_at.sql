-- Since when its files are soft-deleted, null otherwise. They expire some days after that.
alter table views.state_versions add column soft_deleted_at timestamptz;
update views.state_versions v
   set soft_deleted_at = (select max(e.time) from event_store.events e
                           where e.stream = v.id and e.type = 'StateVersionDataSoftDeleted')
 where v.status = 'backing_data_soft_deleted';

create index state_versions_soft_deleted on views.state_versions (soft_deleted_at, id)
  where status = 'backing_data_soft_deleted';
