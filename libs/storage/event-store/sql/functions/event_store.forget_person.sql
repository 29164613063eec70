CREATE OR REPLACE FUNCTION event_store.forget_person(_person text)
 RETURNS void
 LANGUAGE sql
AS $function$
  insert into event_store.person_keys (person) values (_person) on conflict (person) do update set key = null
$function$;
