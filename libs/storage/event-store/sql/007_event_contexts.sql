-- The context of an event takes more space than its data, and most of it is the same for all requests of a client: the
-- caller, with an encrypted name, and the encrypted address and user agent. Such contexts are stored once, without the id
-- of the request. Rows are only added.
create table event_store.contexts (
  id bigint primary key generated always as identity,
  context jsonb not null
);
-- Of two equal rows, which concurrent transactions may add, readers accept either. A hash has room for a context of any size.
create index contexts_by_content on event_store.contexts (jsonb_hash_extended(context, 0));

-- Either the complete context, or the number of a shared one and the id of the request.
alter table event_store.events
  alter column context drop not null,
  add column shared_context bigint,
  add column request uuid;

create or replace function event_store.refuse_change() returns trigger language plpgsql as $$
begin
  raise exception '%.% takes inserts only: events are never changed or removed', tg_table_schema, tg_table_name;
end $$;

create trigger inserts_only before update or delete or truncate on event_store.contexts
  for each statement execute function event_store.refuse_change();

-- Returns the number of this context without the id of its request, or null if the context must be stored with the event:
-- its request has an id that is no UUID, or it was caused by another event, or another transaction is adding it now. The
-- append never waits for that transaction, because both may need a stream that the other one has locked.
create function event_store.share_context(_context jsonb) returns bigint language plpgsql as $$
declare
  _request text := _context -> 'request' ->> 'id';
  _shared jsonb;
  _id bigint;
begin
  if _request is null or _request is distinct from _context ->> 'correlation'
     or _context -> 'causation' is distinct from 'null'
     or _request !~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' then
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

-- As before (001_event_store.sql), with shared contexts.
create or replace function event_store.append(
  _stream text, _expected bigint, _organization text, _time timestamptz, _context jsonb, _events jsonb,
  _decider integer, _state jsonb
) returns bigint language plpgsql as $$
declare
  _count bigint := jsonb_array_length(_events);
  _version bigint;
  _shared bigint;
begin
  perform pg_advisory_xact_lock(event_store.lock_of(_stream));
  if _expected is null then
    insert into event_store.streams as s (stream, version, decider, state) values (_stream, _count, _decider, _state)
      on conflict (stream) do update set version = s.version + _count, decider = null, state = null
      returning version into _version;
  elsif _expected = 0 then
    insert into event_store.streams (stream, version, decider, state) values (_stream, _count, _decider, _state)
      on conflict (stream) do nothing returning version into _version;
  else
    update event_store.streams set version = _expected + _count, decider = _decider, state = _state
      where stream = _stream and version = _expected returning version into _version;
  end if;
  if _version is null then
    raise exception 'stream % is not at version %', _stream, _expected using errcode = 'CA409';
  end if;
  _shared := event_store.share_context(_context);
  insert into event_store.events (id, stream, version, type, schema_version, organization, time, data, context,
                                  shared_context, request)
    select (e ->> 'id')::uuid, _stream, _version - _count + n, e ->> 'type', (e ->> 'schemaVersion')::integer,
           _organization, _time, e -> 'data', case when _shared is null then _context end,
           _shared, case when _shared is not null then (_context -> 'request' ->> 'id')::uuid end
      from jsonb_array_elements(_events) with ordinality as list (e, n);
  return _version;
end $$;
