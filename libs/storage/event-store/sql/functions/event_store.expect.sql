CREATE OR REPLACE FUNCTION event_store.expect(_stream text, _version bigint)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
begin
  perform pg_advisory_xact_lock_shared(event_store.lock_of(_stream));
  perform from event_store.streams where stream = _stream and version = _version;
  if not found then
    raise exception 'stream % is not at version %', _stream, _version using errcode = 'CA409';
  end if;
end $function$;
