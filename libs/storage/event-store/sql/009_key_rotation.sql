-- The encryption key can be replaced while the server runs (ADR 51, libs/event-store/keys).
alter table event_store.encryption_key
  -- Fingerprint of the key that values may still be encrypted with; null if all have the key of `fingerprint`.
  add column previous bytea,
  -- When `fingerprint` became the key of new values. Links that were signed before expire a day later.
  add column switched_at timestamptz,
  -- The key of the MACs in the log, which never change: encrypted with the key of `fingerprint`. Null before the first rotation.
  add column mac_key bytea;

-- Keys that encrypt no new values, by the fingerprint that a value begins with after its version.
create table event_store.retired_keys (value_fingerprint bytea primary key);

create function event_store.has_retired_key(_value bytea) returns boolean language sql as
  $$ select exists (select from event_store.retired_keys where value_fingerprint = substring(_value from 2 for 4)) $$;

-- For triggers of tables with encrypted values. A process that has not noticed yet that the key was replaced gets a
-- conflict, so it tries again, and by then it has noticed.
create function event_store.refuse_retired_key() returns trigger language plpgsql as $$
begin
  raise exception 'the encryption key was rotated' using errcode = 'CA409', constraint = 'retired_keys';
end $$;

create trigger refuse_retired_key before insert or update of key on event_store.person_keys
  for each row when (event_store.has_retired_key(new.key)) execute function event_store.refuse_retired_key();
