-- Which encryption key this database is encrypted with (libs/event-store/migrations/encryption-key.ts): a fingerprint of the key, from
-- which nobody can compute the key. One row, written at the first start and never changed.
create table event_store.encryption_key (
  only_row boolean primary key default true check (only_row),
  fingerprint bytea not null,
  recorded_at timestamptz not null default now()
);
