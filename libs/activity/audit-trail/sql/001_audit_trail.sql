create table views.audit_trail_entries (
  organization text not null,
  -- Unique within the organization, and later with every entry: readers resume at the last one they saw.
  timestamp timestamptz not null,
  id uuid not null,
  -- As it is answered.
  entry jsonb not null,
  primary key (organization, timestamp)
);
-- For pruning. Entries come nearly in order of time, so a few pages of this index tell where the old ones are.
create index audit_trail_entries_by_time on views.audit_trail_entries using brin (timestamp) with (autosummarize = on);

create table views.audit_trails (
  organization text primary key,
  -- Whether the organization has the audit entitlement.
  open boolean not null,
  -- The last entry's timestamp, kept although entries are pruned: see libs/audit-trail/writing/trail.ts.
  last timestamptz
) with (fillfactor = 60);

create schema audit_trail;

-- Where readers are who go through the pages (libs/audit-trail/reading/pagination.ts). No view: it comes from requests, not from the
-- log, and losing it costs a reader at most a page that has shifted.
create table audit_trail.walks (
  -- Hash of who reads what.
  reader bytea primary key,
  upper timestamptz not null,
  started_at timestamptz not null
);
create index walks_by_start on audit_trail.walks (started_at);
