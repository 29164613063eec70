CREATE OR REPLACE FUNCTION event_store.refuse_retired_key()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  raise exception 'the encryption key was rotated' using errcode = 'CA409', constraint = 'retired_keys';
end $function$;
