CREATE OR REPLACE FUNCTION event_store.register_view_writer(_versions jsonb)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
declare
  _id integer;
begin
  perform event_store.lock_view_writers();
  select id into _id from event_store.view_writers where md5(versions::text) = md5(_versions::text);
  if _id is null then
    insert into event_store.view_writers (versions) values (_versions) returning id into _id;
  end if;
  perform pg_advisory_lock_shared(731164010, _id);
  update event_store.view_versions
     set version = coalesce((_versions ->> view)::integer, 0), changed_at = now()
   where version > coalesce((_versions ->> view)::integer, 0);
end $function$;
