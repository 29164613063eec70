-- In which transaction a subject was changed last: a caller with many subjects is checked against the few subjects that changed
-- since the caller was read (libs/access/epochs/access-epochs.queries.ts).
alter table access.epochs add column changed xid8 not null default '0';
create index epochs_by_change on access.epochs (changed);

create or replace function access.raise_epoch(_subject text) returns void language sql as $$
  insert into access.epochs as known (subject, epoch, changed) values (_subject, 1, pg_current_xact_id())
  on conflict (subject) do update set epoch = known.epoch + 1, changed = excluded.changed
$$;
