-- The keys under which the log keeps what is people's, themselves encrypted (libs/personal-data/person-keys.ts). No view: no
-- event holds a key, nothing can make one anew. Null: the person has been forgotten, and never gets another.
create table event_store.person_keys (
  person text primary key,
  key bytea,
  -- When views and snapshots were through with the name of somebody who has been forgotten (libs/personal-data/name-eraser.ts).
  cleaned_at timestamptz
);
create index person_keys_to_clean on event_store.person_keys (person) where key is null and cleaned_at is null;

-- Keeps these people from being forgotten while a transaction writes what is theirs; _forgotten are those whom it forgets
-- itself. First of all statements, before any stream is locked, and all in one order: nobody waits in a circle. Where one
-- of them has been forgotten already, what was decided knows them by a name that must not be written any more: if they are
-- one of the _writers, it is to be asked anew who that is (CA401), else it is to be decided anew (CA409).
create function event_store.hold_people(_people text[], _forgotten text[], _writers text[]) returns void
language plpgsql as $$
declare
  _person text;
  _gone text[];
begin
  for _person in select distinct p from unnest(_people || _forgotten) p order by p loop
    if _person = any (_forgotten) then
      perform pg_advisory_xact_lock(event_store.lock_of('person ' || _person));
    else
      perform pg_advisory_xact_lock_shared(event_store.lock_of('person ' || _person));
    end if;
  end loop;
  select array_agg(person) into _gone from event_store.person_keys where person = any (_people) and key is null;
  if _gone is not null then
    raise exception 'somebody has been forgotten' using
      errcode = case when _writers && _gone then 'CA401' else 'CA409' end, constraint = 'person_keys_known';
  end if;
end $$;

-- After the events of the transaction, which has its number from them.
create function event_store.forget_person(_person text) returns void language sql as $$
  insert into event_store.person_keys (person) values (_person) on conflict (person) do update set key = null
$$;
