CREATE OR REPLACE FUNCTION event_store.begin_group(_people text[], _writers text[], _organizations text[], _written text[], _preconditions text[], _versions bigint[])
 RETURNS void
 LANGUAGE plpgsql
 SET plan_cache_mode TO 'force_generic_plan'
AS $function$
declare
  _streams text[];
  _gone text[];
begin
  if cardinality(_people) > 0 then
    perform pg_advisory_xact_lock_shared(event_store.lock_of('person ' || person))
      from (select person from unnest(_people) person order by person) sorted;
    select array_agg(person) into _gone from event_store.person_keys where person = any (_people) and key is null;
    if _gone is not null then
      raise exception 'a person has been forgotten' using
        errcode = case when _writers && _gone then 'CA401' else 'CA409' end, constraint = 'person_keys_known';
    end if;
  end if;
  if cardinality(_organizations) > 0 then
    perform pg_advisory_xact_lock(event_store.lock_of('appends of ' || organization))
      from (select organization from unnest(_organizations) organization order by organization) sorted;
  end if;
  select array_agg(stream) into _streams from unnest(_written) stream
   where not pg_try_advisory_xact_lock(event_store.lock_of(stream));
  if _streams is null and cardinality(_preconditions) > 0 then
    select array_agg(stream) into _streams from unnest(_preconditions) stream
     where not pg_try_advisory_xact_lock_shared(event_store.lock_of(stream));
  end if;
  if _streams is not null then
    raise exception 'another transaction writes these streams' using
      errcode = 'CA423', detail = array_to_json(_streams)::text;
  end if;
  if cardinality(_preconditions) > 0 then
    select array_agg(stream) into _streams from unnest(_preconditions, _versions) expected (stream, version)
     where not exists (
       select from event_store.streams s where s.stream = expected.stream and s.version = expected.version);
    if _streams is not null then
      raise exception 'these streams have other versions' using
        errcode = 'CA409', detail = array_to_json(_streams)::text;
    end if;
  end if;
end $function$;
