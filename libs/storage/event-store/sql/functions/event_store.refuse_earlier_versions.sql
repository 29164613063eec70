CREATE OR REPLACE FUNCTION event_store.refuse_earlier_versions()
 RETURNS void
 LANGUAGE sql
AS $function$
  insert into migrations.event_store (name, run_on)
  select '000_generation_2', '2000-01-01' where not exists (
    select from migrations.event_store where name = '000_generation_2')
$function$;
