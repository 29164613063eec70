-- What a process that was killed can have delivered for the plan: entries that expire meanwhile change the content and the
-- timestamp of the first entry.
alter table audit_trail.archive_deliveries
  -- The day in the name of the object with entries, such as 2026/11/29. Null before there is an object.
  add column planned_day text,
  -- The SHA-256 of each content that was about to be delivered, in hexadecimal.
  add column planned_digests text[] not null default '{}';
