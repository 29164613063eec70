-- The verifier keys of logs, in the order in which they began to sign. The last row names the origin of the log. Rows are
-- never deleted, because saved checkpoints need their keys.
create table audit_trail.log_keys (
  organization text not null,
  position integer not null,
  origin text not null,
  verifier_key text not null,
  -- Names the private key: a seed in the vault, or a version of a key elsewhere.
  source text not null,
  created_at timestamptz not null,
  primary key (organization, position)
);

-- The logs that have leaves after their last checkpoint. The job that signs reads only this table, so that idle
-- organizations cost nothing.
create table audit_trail.unsigned_logs (
  organization text primary key,
  since timestamptz not null
);

-- One row for each log and checkpoint, however many leaves follow. A transaction that deletes a row holds the lock exclusively
-- and then looks for leaves, so that no leaf is committed without a row.
create function audit_trail.mark_unsigned() returns trigger language plpgsql as $$
begin
  perform pg_advisory_xact_lock_shared(hashtextextended('audit_trail.unsigned_logs', 0));
  insert into audit_trail.unsigned_logs (organization, since)
  select distinct organization, now() from inserted
  on conflict do nothing;
  return null;
end $$;

create trigger mark_unsigned after insert on audit_trail.leaves
  referencing new table as inserted for each statement execute function audit_trail.mark_unsigned();
