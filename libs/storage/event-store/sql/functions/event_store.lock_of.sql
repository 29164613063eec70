CREATE OR REPLACE FUNCTION event_store.lock_of(_stream text)
 RETURNS bigint
 LANGUAGE sql
 IMMUTABLE
AS $function$ select hashtextextended(_stream, 0) $function$;
