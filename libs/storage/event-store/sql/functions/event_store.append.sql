CREATE OR REPLACE FUNCTION event_store.append(_stream text, _expected bigint, _organization text, _time timestamp with time zone, _context jsonb, _events jsonb, _decider integer, _state jsonb)
 RETURNS bigint
 LANGUAGE plpgsql
AS $function$
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
end $function$;
