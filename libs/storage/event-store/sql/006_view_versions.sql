-- The version of the rows of each view: every row was written by code of this version or a later one. A view without a
-- row here was never computed from the whole log (libs/event-store/rebuild/view-versions.ts).
create table event_store.view_versions (
  view text primary key,
  version integer not null,
  changed_at timestamptz not null default now()
);
-- The views of builds that had no versions.
insert into event_store.view_versions (view, version) select unnest(array[
  'access', 'agent_pool_scopes', 'agent_pools', 'agents', 'audit_configurations', 'audit_fact_sources', 'audit_trail',
  'audit_trail_settings', 'configuration_versions', 'data_retention_policies', 'gpg_keys', 'organizations',
  'project_tags', 'projects', 'registry_provider_platforms', 'registry_provider_versions', 'registry_providers',
  'remote_state_consumers', 'reserved_tag_keys', 'runs', 'ssh_keys', 'state_version_outputs', 'state_versions',
  'team_projects', 'team_workspaces', 'variables', 'workspace_counts', 'workspace_history', 'workspace_tags',
  'workspaces'
]), 1;

-- The sets of versions that processes write. Each connection that writes views holds a shared advisory lock with the id
-- of its set, so a rebuild sees whether a process of an earlier version still writes.
create table event_store.view_writers (
  id integer generated always as identity primary key,
  -- { "view": version, … }
  versions jsonb not null
);
create unique index view_writers_versions on event_store.view_writers (md5(versions::text));

-- Taken by connections that register, and by the exchange of a view: a writer is seen by the exchange, or sees its result.
create function event_store.lock_view_writers() returns void language sql as
  $$ select pg_advisory_xact_lock(731164010, 0) $$;

-- Called on each connection before it writes views. From then on the views have the rows of these versions, or of later ones.
create function event_store.register_view_writer(_versions jsonb) returns void language plpgsql as $$
declare
  _id integer;
begin
  perform event_store.lock_view_writers();
  select id into _id from event_store.view_writers where md5(versions::text) = md5(_versions::text);
  if _id is null then
    insert into event_store.view_writers (versions) values (_versions) returning id into _id;
  end if;
  perform pg_advisory_lock_shared(731164010, _id);
  update event_store.view_versions
     set version = coalesce((_versions ->> view)::integer, 0), changed_at = now()
   where version > coalesce((_versions ->> view)::integer, 0);
end $$;

-- The lowest version of a view that a connection writes now; null if none does.
create function event_store.lowest_written_version(_view text) returns integer language sql as $$
  select min(coalesce((w.versions ->> _view)::integer, 0))
    from pg_locks l
    join event_store.view_writers w on w.id = l.objid::bigint
   where l.locktype = 'advisory' and l.classid::bigint = 731164010 and l.objsubid = 2 and l.granted
     and l.database = (select oid from pg_database where datname = current_database())
$$;

-- Rises with each rebuild, so that a follower notices that its tables were exchanged while it handled a batch.
alter table event_store.checkpoints add column rebuilds bigint not null default 0;

-- Tables that a rebuild fills beside the live ones.
create schema views_next;
