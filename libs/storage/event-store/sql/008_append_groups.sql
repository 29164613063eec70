-- Begins a transaction that appends for several requests. It does what hold_people, expect and the locks of append do
-- for a single append, in one call.
--
-- It never waits for a stream: an append that has to wait would delay all others of its group. The error CA423 lists such
-- streams, and their appends are sent alone. CA409 lists the streams whose version is not the expected one. Groups with
-- events of the same organization run one after another. Otherwise two groups could wait for each other's rows in views.
create function event_store.begin_group(
  _people text[], _writers text[], _organizations text[], _written text[], _preconditions text[], _versions bigint[]
) returns void language plpgsql as $$
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
end $$;
-- Arrays of a few elements would otherwise be planned for each call, which takes longer than the call.
alter function event_store.begin_group(text[], text[], text[], text[], text[], bigint[])
  set plan_cache_mode = force_generic_plan;

-- Locks all streams of an append that runs alone, always in the same order, so that two appends cannot wait for each other.
create function event_store.lock_streams(_written text[], _preconditions text[]) returns void language plpgsql as $$
declare
  _stream text;
begin
  for _stream in select distinct s from unnest(_written || _preconditions) s order by s loop
    if _stream = any (_written) then
      perform pg_advisory_xact_lock(event_store.lock_of(_stream));
    else
      perform pg_advisory_xact_lock_shared(event_store.lock_of(_stream));
    end if;
  end loop;
end $$;
