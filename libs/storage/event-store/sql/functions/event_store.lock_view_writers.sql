CREATE OR REPLACE FUNCTION event_store.lock_view_writers()
 RETURNS void
 LANGUAGE sql
AS $function$ select pg_advisory_xact_lock(731164010, 0) $function$;
