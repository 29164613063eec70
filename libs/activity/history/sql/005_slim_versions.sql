-- The history keeps only what readers cannot derive. A version has no longer
--
-- - the organization and the type of the event, except the first version of a subject; the version of the event and the id
--   of the request: the log has them, found by `event`
-- - the number of its base version: it is the last complete version that is not after it. Complete versions have frame = ordinal
-- - the names of the changed fields: `fields` has codes of four characters (libs/history/writing/history.field-codes.ts).
--
-- Rows of the earlier version have '?' there and all columns, until the view is rebuilt.
alter table views.history_versions
  alter column organization drop not null,
  alter column frame drop not null,
  alter column changed drop not null,
  alter column type drop not null,
  alter column version drop not null,
  add column fields text not null default '?';

-- One index for each version, in the order of time, which is also the order of the numbers.
drop index views.history_versions_since;
alter table views.history_versions
  drop constraint history_versions_pkey,
  add primary key (subject, since, ordinal) include (fields, actor_id, actor_name);
create index history_versions_bases on views.history_versions (subject, since, ordinal) where frame = ordinal;

-- Codes of `name` and `ssh-key`.
create index history_versions_named on views.history_versions ((data ->> 'name')) where fields ~ 'Atlt';
create index history_versions_with_ssh_key on views.history_versions ((data ->> 'sshKey')) where fields ~ 'C51m';

-- Only locks that are held now. The versions have everything else: holder, reason, and all locks of the past.
alter table views.history_locks
  alter column holder drop not null,
  alter column reason drop not null,
  drop constraint history_locks_pkey,
  add primary key (organization, locked_at, id);
drop index views.history_locks_held;
drop index views.history_locks_by_workspace;
