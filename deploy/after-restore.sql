-- To be run once after a dump of Cadastre's database was restored into another cluster, before any process starts:
--
--   psql "$DATABASE_URL" --file deploy/after-restore.sql
--
-- Followers go by Postgres' transaction ids, and a new cluster counts them from the beginning. This uses up ids until the
-- counter has passed the newest event (docs/explanation/adr/0013-transaction-ids-and-restored-dumps.md). Run again it does nothing.
set synchronous_commit = off;

do $$
declare
  _newest xid8 := (select max(transaction) from event_store.events);
begin
  while pg_current_xact_id() <= _newest loop
    commit;
  end loop;
end $$;

reset synchronous_commit;

select pg_current_xact_id() as next_transaction, max(transaction) as newest_event,
       coalesce(pg_current_xact_id() > max(transaction), true) as ready
  from event_store.events;
