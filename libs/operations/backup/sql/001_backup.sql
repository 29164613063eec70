create schema backup;

-- The restore that has begun and not ended (libs/backup/restore). While there is a row, log and views are incomplete, and
-- no process starts.
create table backup.unfinished_restore (
  only_row boolean primary key default true check (only_row),
  backup text not null,
  -- The range of the log that is restored.
  cut jsonb not null,
  -- How far the restore is; stored in the transaction of each step.
  progress jsonb not null
);

-- Files that were to be deleted while a backup copied files. A scheduled job deletes them after the backup.
create table backup.deferred_deletions (
  key text primary key
);
