CREATE OR REPLACE FUNCTION access.refuse_outdated(_epoch bigint)
 RETURNS boolean
 LANGUAGE plpgsql
 STABLE
AS $function$
begin
  raise exception 'access has changed since this caller was read' using errcode = 'CA401';
end $function$;
