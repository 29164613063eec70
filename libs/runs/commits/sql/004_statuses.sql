-- The last status of a run that the Git host has got. Rows of old runs are deleted.
create table commits.reported_runs (
  run text primary key,
  -- status of the run, which the host need not know
  status text not null,
  -- The commit status of which the run was a part; null if the host has refused it
  report text,
  reported_at timestamptz not null
);
create index reported_runs_by_age on commits.reported_runs (reported_at);
