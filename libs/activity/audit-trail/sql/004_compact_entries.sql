-- An entry is stored as columns, because the keys of a JSON object are longer than its values. Rows of earlier versions
-- contain the whole entry instead (libs/audit-trail/writing/stored-entry.ts).
alter table views.audit_trail_entries
  alter column entry drop not null,
  add column actor_name text,
  add column auth_type text,
  add column impersonator text,
  add column request text,
  add column address text,
  add column user_agent text,
  add column meta jsonb;

-- Which of 1,024 consecutive entries have a type, an action or an actor: one bit for each entry. A row is written once,
-- when its block is complete (libs/audit-trail/writing/trail-blocks.ts).
create table views.audit_trail_blocks (
  organization text not null,
  -- type, action or actor
  kind text not null,
  value text not null,
  -- Block n contains the ordinals from 1024 * n + 1.
  block integer not null,
  matches bit(1024) not null,
  primary key (organization, kind, value, block)
);

-- The indexes of version 2 of the view. In other databases the rebuild of the view creates them beside the live table
-- (libs/audit-trail/writing/entry-indexes.queries.ts), so that this migration takes no time.
do $$
begin
  if not exists (select from views.audit_trail_entries) and not exists (select from event_store.events) then
    drop index views.audit_trail_entries_by_ordinal, views.audit_trail_entries_by_resource_type,
      views.audit_trail_entries_by_action, views.audit_trail_entries_by_accessor, views.audit_trail_entries_by_resource_id;
    alter table views.audit_trail_entries drop constraint audit_trail_entries_pkey,
      add constraint audit_trail_entries_pkey primary key (organization, ordinal);
    create index audit_trail_entries_by_timestamp on views.audit_trail_entries (organization, "timestamp")
      include (ordinal) where ordinal % 4 = 0;
    create index audit_trail_entries_by_resource on views.audit_trail_entries
      (organization, (ordinal >> 13), resource_id, ordinal);
    update event_store.view_versions set version = 2
     where view = 'audit_trail' and coalesce(event_store.lowest_written_version('audit_trail'), 2) >= 2;
  end if;
end $$;
