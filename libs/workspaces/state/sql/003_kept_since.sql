-- Since when its files are here: since it was finalized, or brought back from a soft deletion. Retention counts from there.
alter table views.state_versions add column kept_since timestamptz;
update views.state_versions v
   set kept_since = greatest(v.finalized_at, (select max(e.time) from event_store.events e
                                               where e.stream = v.id and e.type = 'StateVersionDataRestored'))
 where v.finalized_at is not null;

-- By age, of what has files that can be deleted: in one workspace, and in a whole organization.
create index state_versions_kept_in_workspace on views.state_versions (workspace, kept_since, id)
  where status = 'finalized';
create index state_versions_kept_in_organization on views.state_versions (organization, kept_since, id)
  where status = 'finalized';
