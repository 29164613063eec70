-- What the processes of the site last did. No event contains it, because it is about the processes and not about the data.
create schema site;

create table site.job_runs (
  job text primary key,
  -- When the last run ended.
  ended_at timestamptz not null,
  succeeded boolean not null,
  -- When the last run without an error ended; null if there was none.
  succeeded_at timestamptz
) with (fillfactor = 50);

create table site.verifications (
  -- One row.
  single boolean primary key default true check (single),
  ended_at timestamptz not null,
  -- The end of the log when the verification began; null for an empty log.
  transaction xid8,
  position bigint,
  clean boolean not null
);
