-- Names are found regardless of case. The collation folds A to Z in every database, whatever its locale is.
create index organizations_by_folded_name on views.organizations (lower(name collate "C"));
drop index views.organizations_by_name_in_any_case;
create index projects_by_folded_name on views.projects (organization, lower(name collate "C"));
-- Postgres has no statistics of an expression before, and would estimate that a name has many rows.
analyze views.organizations;
analyze views.projects;
