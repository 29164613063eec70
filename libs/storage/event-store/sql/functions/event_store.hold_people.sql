CREATE OR REPLACE FUNCTION event_store.hold_people(_people text[], _forgotten text[], _writers text[])
 RETURNS void
 LANGUAGE plpgsql
 SET plan_cache_mode TO 'force_generic_plan'
AS $function$
declare
  _person text;
  _gone text[];
begin
  for _person in select distinct p from unnest(_people || _forgotten) p order by p loop
    if _person = any (_forgotten) then
      perform pg_advisory_xact_lock(event_store.lock_of('person ' || _person));
    else
      perform pg_advisory_xact_lock_shared(event_store.lock_of('person ' || _person));
    end if;
  end loop;
  select array_agg(person) into _gone from event_store.person_keys where person = any (_people) and key is null;
  if _gone is not null then
    raise exception 'somebody has been forgotten' using
      errcode = case when _writers && _gone then 'CA401' else 'CA409' end, constraint = 'person_keys_known';
  end if;
end $function$;
