CREATE OR REPLACE FUNCTION event_store.has_unregistered_process()
 RETURNS boolean
 LANGUAGE sql
AS $function$
  select exists (
    select from pg_stat_activity
     where datname = current_database()
       and application_name in ('cadastre serve', 'cadastre gateway', 'cadastre projector', 'cadastre publisher'))
$function$;
