-- Names are found regardless of case.
create index workspaces_by_folded_name on views.workspaces (organization, lower(name collate "C"));
-- Postgres has no statistics of an expression before, and would estimate that a name has many rows.
analyze views.workspaces;
