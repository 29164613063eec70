CREATE OR REPLACE FUNCTION audit_trail.mark_unsigned()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  perform pg_advisory_xact_lock_shared(hashtextextended('audit_trail.unsigned_logs', 0));
  insert into audit_trail.unsigned_logs (organization, since)
  select distinct organization, now() from inserted
  on conflict do nothing;
  return null;
end $function$;
