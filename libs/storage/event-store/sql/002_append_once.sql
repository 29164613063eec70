-- Appends those events whose ids the log does not have yet, in their order, at whatever version the stream is; returns
-- their ids. An id belongs to one stream for good, so whoever holds the stream's lock sees all that could be the same.
-- Who repeats what is there already gets no error: that would fail whatever else is in the transaction.
create function event_store.append_once(_stream text, _organization text, _time timestamptz, _events jsonb)
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
    insert into event_store.events (id, stream, version, type, schema_version, organization, time, data, context)
      select (e ->> 'id')::uuid, _stream, _version - jsonb_array_length(_new) + n, e ->> 'type',
             (e ->> 'schemaVersion')::integer, _organization, _time, e -> 'data', e -> 'context'
        from jsonb_array_elements(_new) with ordinality as list (e, n) order by n
    returning id;
end $$;
