CREATE OR REPLACE FUNCTION access.forget_secrets()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  delete from access.token_hashes where token in (select id from gone);
  return null;
end $function$;
