CREATE OR REPLACE FUNCTION event_store.refuse_taken_name(_constraint text)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
begin
  raise exception 'another row has this name in another case' using errcode = 'unique_violation', constraint = _constraint;
end $function$;
