-- The logs that prove audit trails. They are no views: once a person is forgotten, nobody can compute the commitments to
-- the person's data again. A replay of the events compares the leaves that it computes with the stored ones.
create table audit_trail.logs (
  organization text primary key,
  -- The ordinal of the entry whose leaf has index 0.
  first_ordinal bigint not null,
  -- Encrypted. The salts of entries derive from it.
  secret bytea not null,
  -- Leaves with a lower index were deleted, because their entries have expired.
  pruned bigint not null default 0
);
create trigger refuse_retired_key before insert or update of secret on audit_trail.logs
  for each row when (event_store.has_retired_key(new.secret)) execute function event_store.refuse_retired_key();

create table audit_trail.leaves (
  organization text not null,
  index bigint not null,
  -- Of the entry.
  id uuid not null,
  leaf bytea not null,
  -- 32 bytes for each committed value of the entry, in the order of their pointers. Null without such values.
  commitments bytea,
  primary key (organization, index)
);

create function audit_trail.refuse_leaf_change() returns trigger language plpgsql as $$
begin
  if tg_op <> 'DELETE' then
    raise exception 'audit_trail.leaves takes inserts only: leaves are never changed';
  end if;
  -- A restore up to a position has leaves whose entries it does not restore.
  if not exists (select from audit_trail.logs l left join views.audit_trails t using (organization)
                  where l.organization = old.organization
                    and (old.index < l.pruned or l.first_ordinal + old.index > coalesce(t.length, 0))) then
    raise exception 'leaf % of % cannot be deleted: its entry has not expired', old.index, old.organization;
  end if;
  return old;
end $$;

create trigger inserts_only before update or truncate on audit_trail.leaves
  for each statement execute function audit_trail.refuse_leaf_change();
create trigger expired_only before delete on audit_trail.leaves
  for each row execute function audit_trail.refuse_leaf_change();

-- Logs need version 4 of the view, which all processes write with leaves. Other databases get it with the rebuild.
do $$
begin
  if not exists (select from event_store.events) then
    update event_store.view_versions set version = 4
     where view = 'audit_trail' and coalesce(event_store.lowest_written_version('audit_trail'), 4) >= 4;
  end if;
end $$;
