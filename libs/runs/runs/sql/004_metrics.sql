-- Of each workspace the runs that ended in a failure or were applied, the newest 30: what its metrics are computed over.
create table views.finished_runs (
  run text primary key,
  workspace text not null,
  organization text not null,
  finished_at timestamptz not null,
  failed boolean not null,
  -- Whether a policy check made it fail
  by_policy boolean not null,
  -- Null where it did not come so far
  plan_ms bigint,
  apply_ms bigint
);
create index finished_runs_by_workspace on views.finished_runs (workspace, finished_at desc, run desc);
create index finished_runs_by_organization on views.finished_runs (organization);

create table views.workspace_metrics (
  workspace text primary key,
  organization text not null,
  runs integer not null default 0,
  failures integer not null default 0,
  policy_failures integer not null default 0,
  plan_ms bigint,
  apply_ms bigint
) with (fillfactor = 60);
create index workspace_metrics_by_organization on views.workspace_metrics (organization);
