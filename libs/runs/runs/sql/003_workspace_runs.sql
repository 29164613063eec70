-- Of the run that a workspace is at: lists of workspaces are sorted and filtered by it.
alter table views.workspace_runs add column status text, add column created_at timestamptz;
update views.workspace_runs c set status = r.status, created_at = r.created_at
  from views.runs r where r.id = c.current_run;
alter table views.workspace_runs alter column status set not null, alter column created_at set not null;

drop index views.workspace_runs_by_organization;
create index workspace_runs_by_creation on views.workspace_runs (organization, created_at, workspace);
create index workspace_runs_by_status on views.workspace_runs (organization, status, workspace);
-- As for workspaces, in their 004_lists.sql.
alter table views.workspace_runs alter column organization set (n_distinct = 1);
