CREATE OR REPLACE FUNCTION event_store.refuse_change()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  raise exception '%.% takes inserts only: events are never changed or removed', tg_table_schema, tg_table_name;
end $function$;
