-- What is asked for beside the time, as columns: the entry itself stays as it is answered.
alter table views.audit_trail_entries
  -- 1, 2, 3 … within the trail, without gaps, in its order: pages and totals are differences of two of them.
  add column ordinal bigint,
  add column resource_type text,
  add column action text,
  add column accessor text,
  add column resource_id text;

-- Of entries that were pruned before this nothing is known: where there were any, the ordinals are those of the log only
-- after `cadastre rebuild audit_trail`, and verify says so until then. Reading works either way.
update views.audit_trail_entries e
   set ordinal = counted.ordinal,
       resource_type = e.entry -> 'resource' ->> 'type',
       action = e.entry -> 'resource' ->> 'action',
       accessor = e.entry -> 'auth' ->> 'accessor_id',
       resource_id = e.entry -> 'resource' ->> 'id',
       entry = jsonb_set(e.entry, '{request}', (e.entry -> 'request') || jsonb_build_object(
         'address', v.context -> 'request' -> 'address', 'user_agent', v.context -> 'request' -> 'userAgent'))
  from (select organization, timestamp, row_number() over (partition by organization order by timestamp) as ordinal
          from views.audit_trail_entries) counted,
       event_store.events v
 where counted.organization = e.organization and counted.timestamp = e.timestamp and v.id = e.id;

alter table views.audit_trail_entries
  alter column ordinal set not null,
  alter column resource_type set not null,
  alter column action set not null,
  alter column accessor set not null,
  alter column resource_id set not null,
  -- Counts are read from indexes alone where vacuum has been there. What is only added to, it would rarely visit.
  set (autovacuum_vacuum_insert_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);

-- Pruned by organization now, from its first entry on.
drop index views.audit_trail_entries_by_time;
-- With all that can be filtered for: two filters that match much together are looked up here, and not in the entries.
create unique index audit_trail_entries_by_ordinal on views.audit_trail_entries (organization, ordinal)
  include (resource_type, action, accessor, resource_id);
create index audit_trail_entries_by_resource_type on views.audit_trail_entries (organization, resource_type, ordinal);
create index audit_trail_entries_by_action on views.audit_trail_entries (organization, action, ordinal);
create index audit_trail_entries_by_accessor on views.audit_trail_entries (organization, accessor, ordinal);
create index audit_trail_entries_by_resource_id on views.audit_trail_entries (organization, resource_id, ordinal);
-- For cursors.
create index audit_trail_entries_by_id on views.audit_trail_entries (id);

-- Under which names somebody has acted: filters take either. Whoever is called by their id is found by it: tokens of runs
-- are, of which there are as many as runs.
create table views.audit_trail_actors (
  organization text not null,
  name text not null,
  accessor text not null,
  primary key (organization, name, accessor)
);
insert into views.audit_trail_actors (organization, name, accessor)
select distinct organization, entry -> 'auth' ->> 'description', accessor
  from views.audit_trail_entries where entry -> 'auth' ->> 'description' <> accessor;
-- Those whose names no question can be compared with before they are opened.
create index audit_trail_actors_by_sealed_name on views.audit_trail_actors (organization) where name like '~sealed:%';

-- How many entries the trail has had, pruned ones included: the ordinal of the last.
alter table views.audit_trails add column length bigint not null default 0;
update views.audit_trails t
   set length = coalesce((select max(ordinal) from views.audit_trail_entries e where e.organization = t.organization), 0);
alter table views.audit_trails alter column length drop default;

-- Only of organizations that have ever changed something; the others keep to libs/audit-trail/settings/audit-trail-settings.ts.
create table views.audit_trail_settings (
  organization text primary key,
  -- Null: for ever
  retention_days integer,
  -- What was too old once does not come back when entries are kept for longer.
  kept_from timestamptz not null
);
