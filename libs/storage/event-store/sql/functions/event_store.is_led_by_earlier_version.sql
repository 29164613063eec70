CREATE OR REPLACE FUNCTION event_store.is_led_by_earlier_version(_follower text)
 RETURNS boolean
 LANGUAGE sql
AS $function$
  select exists (
    select from pg_stat_activity
     where datname = current_database()
       and application_name in (
         'cadastre serve', case when _follower = 'publisher' then 'cadastre publisher' else 'cadastre projector' end))
$function$;
