create schema facts;

-- Facts that each organization reported, by intervals of ten seconds. Not a view: a rebuild leaves the counts alone, and they
-- are deleted after a day.
create table facts.reported (
  organization text not null,
  interval_start timestamptz not null,
  facts integer not null,
  primary key (organization, interval_start)
) with (fillfactor = 60);

-- Counts facts in the transaction that records them. Raises CA409 if they exceed the limit, because another transaction has
-- counted facts of the organization in the meantime: the caller then reads the count again and decides.
create function facts.count_facts(_organization text, _interval timestamptz, _facts integer, _limit integer) returns void
language plpgsql as $$
declare
  _total integer;
begin
  insert into facts.reported as known (organization, interval_start, facts) values (_organization, _interval, _facts)
    on conflict (organization, interval_start) do update set facts = known.facts + excluded.facts
    returning facts into _total;
  if _total > _limit then
    raise exception 'organization % exceeds its limit of facts', _organization using errcode = 'CA409';
  end if;
  if _total = _facts then
    delete from facts.reported where organization = _organization and interval_start < _interval - interval '1 day';
  end if;
end $$;
