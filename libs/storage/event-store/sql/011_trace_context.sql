-- The span that appended the event, as a W3C traceparent (ADR 53). Null if no trace was recorded: then a row is as long as
-- before. It is not part of the context, because requests of a client share that.
alter table event_store.events add column traceparent text;

-- As before (007_event_contexts.sql), with the traceparent of each event. Processes of earlier versions send none.
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
                                  shared_context, request, traceparent)
    select (e ->> 'id')::uuid, _stream, _version - _count + n, e ->> 'type', (e ->> 'schemaVersion')::integer,
           _organization, _time, e -> 'data', case when _shared is null then _context end,
           _shared, case when _shared is not null then (_context -> 'request' ->> 'id')::uuid end, e ->> 'traceparent'
      from jsonb_array_elements(_events) with ordinality as list (e, n);
  return _version;
end $$;

-- As before (002_append_once.sql), with the traceparent of each event.
create or replace function event_store.append_once(_stream text, _organization text, _time timestamptz, _events jsonb)
returns setof uuid language plpgsql as $$
declare
  _new jsonb;
  _version bigint;
begin
  perform pg_advisory_xact_lock(event_store.lock_of(_stream));
  select jsonb_agg(e order by n) into _new
    from jsonb_array_elements(_events) with ordinality as list (e, n)
   where not exists (select from event_store.events known where known.id = (e ->> 'id')::uuid);
  if _new is null then
    return;
  end if;
  insert into event_store.streams as s (stream, version) values (_stream, jsonb_array_length(_new))
    on conflict (stream) do update set version = s.version + excluded.version, decider = null, state = null
    returning version into _version;
  return query
    insert into event_store.events (id, stream, version, type, schema_version, organization, time, data, context,
                                    traceparent)
      select (e ->> 'id')::uuid, _stream, _version - jsonb_array_length(_new) + n, e ->> 'type',
             (e ->> 'schemaVersion')::integer, _organization, _time, e -> 'data', e -> 'context', e ->> 'traceparent'
        from jsonb_array_elements(_new) with ordinality as list (e, n) order by n
    returning id;
end $$;
