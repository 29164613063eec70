CREATE OR REPLACE FUNCTION audit_trail.refuse_leaf_change()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
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
end $function$;
