CREATE OR REPLACE FUNCTION event_store.lowest_written_version(_view text)
 RETURNS integer
 LANGUAGE sql
AS $function$
  select least(
    (select min(coalesce((w.versions ->> _view)::integer, 0))
       from pg_locks l
       join event_store.view_writers w on w.id = l.objid::bigint
      where l.locktype = 'advisory' and l.classid::bigint = 731164010 and l.objsubid = 2 and l.granted
        and l.database = (select oid from pg_database where datname = current_database())),
    case when event_store.has_unregistered_process()
         then least(1, coalesce((select version from event_store.view_versions where view = _view), 0)) end)
$function$;
