CREATE OR REPLACE FUNCTION event_store.append_once(_stream text, _organization text, _time timestamp with time zone, _events jsonb)
 RETURNS SETOF uuid
 LANGUAGE plpgsql
AS $function$
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
end $function$;
