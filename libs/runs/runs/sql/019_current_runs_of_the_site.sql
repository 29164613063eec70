-- The list of the workspaces of all organizations by the time of their current run.
create index workspace_runs_by_creation_in_site on views.workspace_runs (created_at, workspace);
