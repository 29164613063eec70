create schema event_store;
-- What REST reads. Projections name tables without a schema; the search path says live or scratch (rebuild, verify).
create schema views;

create table event_store.events (
  -- Readers go in (transaction, position) order and stay below pg_snapshot_xmin: a plain position cursor loses events
  -- whose transaction commits late.
  transaction xid8 not null default pg_current_xact_id(),
  position bigint not null generated always as identity,
  id uuid not null constraint events_id_key unique,
  stream text not null,
  version bigint not null,
  type text not null,
  schema_version integer not null,
  organization text,
  time timestamptz not null,
  data jsonb not null,
  context jsonb not null,
  primary key (transaction, position),
  constraint events_stream_version_key unique (stream, version)
);

create function event_store.refuse_change() returns trigger language plpgsql as $$
begin
  raise exception 'event_store.events takes inserts only: events are never changed or removed';
end $$;

create trigger inserts_only before update or delete or truncate on event_store.events
  for each statement execute function event_store.refuse_change();

-- A stream's version, and the state its events fold to (the snapshot), so that a decision costs the same after ten
-- events and after a million. Room is left in each page for updates in place.
create table event_store.streams (
  stream text primary key,
  version bigint not null,
  decider integer,
  state jsonb
) with (fillfactor = 60);

-- How far each follower has read; stored in the transaction that writes what it made of the events.
create table event_store.checkpoints (
  follower text primary key,
  transaction xid8 not null,
  position bigint not null,
  updated_at timestamptz not null default now()
) with (fillfactor = 50);

-- The lock of a stream, taken before a transaction writes anything and so before it has its number: whoever waits for
-- another gets the higher number, and the log's order is the order in which things happened, also across streams.
create function event_store.lock_of(_stream text) returns bigint language sql immutable as
  $$ select hashtextextended(_stream, 0) $$;

-- Appends to one stream inside the caller's transaction. _expected: the version the stream must have, 0 = it must not
-- exist, null = any. Raises CA409 where it differs, so that whatever else is in the transaction fails with it.
create function event_store.append(
  _stream text, _expected bigint, _organization text, _time timestamptz, _context jsonb, _events jsonb,
  _decider integer, _state jsonb
) returns bigint language plpgsql as $$
declare
  _count bigint := jsonb_array_length(_events);
  _version bigint;
begin
  perform pg_advisory_xact_lock(event_store.lock_of(_stream));
  if _expected is null then
    insert into event_store.streams as s (stream, version, decider, state) values (_stream, _count, _decider, _state)
      on conflict (stream) do update set version = s.version + _count, decider = null, state = null
      returning version into _version;
  elsif _expected = 0 then
    insert into event_store.streams (stream, version, decider, state) values (_stream, _count, _decider, _state)
      on conflict (stream) do nothing returning version into _version;
  else
    update event_store.streams set version = _expected + _count, decider = _decider, state = _state
      where stream = _stream and version = _expected returning version into _version;
  end if;
  if _version is null then
    raise exception 'stream % is not at version %', _stream, _expected using errcode = 'CA409';
  end if;
  insert into event_store.events (id, stream, version, type, schema_version, organization, time, data, context)
    select (e ->> 'id')::uuid, _stream, _version - _count + n, e ->> 'type', (e ->> 'schemaVersion')::integer,
           _organization, _time, e -> 'data', _context
      from jsonb_array_elements(_events) with ordinality as list (e, n);
  return _version;
end $$;

-- Fails the transaction with CA409 unless the stream is at that version, and keeps it there until the transaction ends:
-- a workspace is not born into an organization that is being deleted at the same time.
create function event_store.expect(_stream text, _version bigint) returns void language plpgsql as $$
begin
  perform pg_advisory_xact_lock_shared(event_store.lock_of(_stream));
  perform from event_store.streams where stream = _stream and version = _version;
  if not found then
    raise exception 'stream % is not at version %', _stream, _version using errcode = 'CA409';
  end if;
end $$;

-- For what was true when the decision was made and must still be true once the stream is locked.
create function event_store.stale_when(_condition boolean) returns void language plpgsql as $$
begin
  if _condition then
    raise exception 'what was decided on has changed' using errcode = 'CA409';
  end if;
end $$;
