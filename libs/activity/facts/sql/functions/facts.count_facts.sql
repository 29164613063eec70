CREATE OR REPLACE FUNCTION facts.count_facts(_organization text, _interval timestamp with time zone, _facts integer, _limit integer)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
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
end $function$;
