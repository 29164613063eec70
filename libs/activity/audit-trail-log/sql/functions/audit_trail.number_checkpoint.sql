CREATE OR REPLACE FUNCTION audit_trail.number_checkpoint()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  new.position := coalesce(new.position, (select max(position) from audit_trail.signed_checkpoints) + 1, 1);
  return new;
end $function$;
