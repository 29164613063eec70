CREATE OR REPLACE FUNCTION event_store.has_retired_key(_value bytea)
 RETURNS boolean
 LANGUAGE sql
AS $function$ select exists (select from event_store.retired_keys where value_fingerprint = substring(_value from 2 for 4)) $function$;
