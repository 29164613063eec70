-- Names of the past are found regardless of case.
create index history_versions_folded on views.history_versions (lower((data ->> 'name') collate "C")) where fields ~ 'Atlt';
drop index views.history_versions_named;
create index history_versions_by_folded_name on views.history_versions (lower((data ->> 'name') collate "C"))
  where 'name' = any (changed);
drop index views.history_versions_by_name;
-- Postgres has no statistics of an expression before.
analyze views.history_versions;
