CREATE OR REPLACE FUNCTION event_store.stale_when(_condition boolean)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
begin
  if _condition then
    raise exception 'what was decided on has changed' using errcode = 'CA409';
  end if;
end $function$;
