CREATE OR REPLACE FUNCTION access.raise_epoch(_subject text)
 RETURNS void
 LANGUAGE sql
AS $function$
  insert into access.epochs as known (subject, epoch, changed) values (_subject, 1, pg_current_xact_id())
  on conflict (subject) do update set epoch = known.epoch + 1, changed = excluded.changed
$function$;
