-- Runs of commits whose status may differ from the one that their Git hosts have, so that the job that reports them does not compare
-- all runs of the last days. Their follower lists them.
create table commits.changed_runs (
  run text primary key,
  organization text not null,
  -- Grows with each change, so that a run is only removed from the list as it was read
  changes bigint not null,
  changed_at timestamptz not null
);
