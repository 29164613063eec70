-- Upgrades from 0.2.0 run in two steps. While a process of 0.2.0 may run, everything that it reads is written as it expects.
-- When the last one has stopped, the scheduled job log_format calls finish_upgrade (libs/event-store/migrations/log-format.job.ts).
create table event_store.log_format (
  only_row boolean primary key default true check (only_row),
  -- Whether events share contexts (007_event_contexts.sql), which 0.2.0 cannot read.
  shares_contexts boolean not null
);
insert into event_store.log_format (shares_contexts)
select not exists (select from event_store.events) or exists (select from event_store.contexts);

-- Processes of 0.2.0 do not register what they write. These are the names of their connections; later versions add the
-- fingerprints of their keys to the names.
create function event_store.has_unregistered_process() returns boolean language sql as $$
  select exists (
    select from pg_stat_activity
     where datname = current_database()
       and application_name in ('cadastre serve', 'cadastre gateway', 'cadastre projector', 'cadastre publisher'))
$$;

-- A process of 0.2.0 keeps its followers until it stops, because gateways of 0.2.0 cannot read the history that a later version
-- writes.
create function event_store.is_led_by_earlier_version(_follower text) returns boolean language sql as $$
  select exists (
    select from pg_stat_activity
     where datname = current_database()
       and application_name in (
         'cadastre serve', case when _follower = 'publisher' then 'cadastre publisher' else 'cadastre projector' end))
$$;

-- Makes 0.2.0 refuse to start: it accepts no migration before its own ones.
create function event_store.refuse_earlier_versions() returns void language sql as $$
  insert into migrations.event_store (name, run_on)
  select '000_generation_2', '2000-01-01' where not exists (
    select from migrations.event_store where name = '000_generation_2')
$$;
select event_store.refuse_earlier_versions() from event_store.log_format where shares_contexts;

-- Returns whether no process of 0.2.0 runs or can start any more, and the log may have the format of this version. A process
-- that passed the check of migrations just before the first call is connected when this is called again, after seconds.
create function event_store.finish_upgrade() returns boolean language plpgsql as $$
begin
  if (select shares_contexts from event_store.log_format) then
    return true;
  elsif event_store.has_unregistered_process() then
    return false;
  elsif not exists (select from migrations.event_store where name = '000_generation_2') then
    perform event_store.refuse_earlier_versions();
    return false;
  end if;
  update event_store.log_format set shares_contexts = true;
  return true;
end $$;

-- As before (007_event_contexts.sql), if the log may have shared contexts.
create or replace function event_store.share_context(_context jsonb) returns bigint language plpgsql as $$
declare
  _request text := _context -> 'request' ->> 'id';
  _shared jsonb;
  _id bigint;
begin
  if _request is null or _request is distinct from _context ->> 'correlation'
     or _context -> 'causation' is distinct from 'null'
     or _request !~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$'
     or not (select shares_contexts from event_store.log_format) then
    return null;
  end if;
  _shared := _context - '{correlation,causation}'::text[] #- '{request,id}';
  select id into _id from event_store.contexts
   where jsonb_hash_extended(context, 0) = jsonb_hash_extended(_shared, 0) and context = _shared limit 1;
  if _id is null and pg_try_advisory_xact_lock(event_store.lock_of('context ' || jsonb_hash_extended(_shared, 0))) then
    insert into event_store.contexts (context) values (_shared) returning id into _id;
  end if;
  return _id;
end $$;

-- As before (006_view_versions.sql). Processes of 0.2.0 write version 1 of the views that existed then, and no other views.
create or replace function event_store.lowest_written_version(_view text) returns integer language sql as $$
  select least(
    (select min(coalesce((w.versions ->> _view)::integer, 0))
       from pg_locks l
       join event_store.view_writers w on w.id = l.objid::bigint
      where l.locktype = 'advisory' and l.classid::bigint = 731164010 and l.objsubid = 2 and l.granted
        and l.database = (select oid from pg_database where datname = current_database())),
    case when event_store.has_unregistered_process()
         then least(1, coalesce((select version from event_store.view_versions where view = _view), 0)) end)
$$;
