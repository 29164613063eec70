-- Fails like a violation of the unique constraint, so that callers of both kinds handle one error. Names that differ only in
-- case are checked by statements instead of a unique index, because data folders of earlier versions can have such names.
create function event_store.refuse_taken_name(_constraint text) returns void language plpgsql as $$
begin
  raise exception 'another row has this name in another case' using errcode = 'unique_violation', constraint = _constraint;
end $$;
