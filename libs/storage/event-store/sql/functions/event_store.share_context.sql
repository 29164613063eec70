CREATE OR REPLACE FUNCTION event_store.share_context(_context jsonb)
 RETURNS bigint
 LANGUAGE plpgsql
AS $function$
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
end $function$;
