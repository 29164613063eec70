CREATE OR REPLACE FUNCTION event_store.lock_streams(_written text[], _preconditions text[])
 RETURNS void
 LANGUAGE plpgsql
AS $function$
declare
  _stream text;
begin
  for _stream in select distinct s from unnest(_written || _preconditions) s order by s loop
    if _stream = any (_written) then
      perform pg_advisory_xact_lock(event_store.lock_of(_stream));
    else
      perform pg_advisory_xact_lock_shared(event_store.lock_of(_stream));
    end if;
  end loop;
end $function$;
