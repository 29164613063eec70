CREATE OR REPLACE FUNCTION event_store.finish_upgrade()
 RETURNS boolean
 LANGUAGE plpgsql
AS $function$
begin
  if (select shares_contexts from event_store.log_format) then
    return true;
  elsif event_store.has_unregistered_process() then
    return false;
  elsif not exists (select from migrations.event_store where name = '000_generation_2') then
    perform event_store.refuse_earlier_versions();
    return false;
  end if;
  update event_store.log_format set shares_contexts = true;
  return true;
end $function$;
