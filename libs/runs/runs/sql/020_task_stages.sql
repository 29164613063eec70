create table views.task_stages (
  id text primary key,
  run text not null,
  workspace text not null,
  organization text not null,
  stage text not null,
  -- The position in the run, from 0.
  number integer not null,
  status text not null,
  -- When the stage reached each status.
  reached jsonb not null
);
create index task_stages_by_run on views.task_stages (run, number);
create index task_stages_by_workspace on views.task_stages (workspace);
create index task_stages_by_organization on views.task_stages (organization);

create table views.task_results (
  id text primary key,
  task_stage text not null,
  run text not null,
  workspace text not null,
  organization text not null,
  stage text not null,
  -- The position in the stage, from 0.
  number integer not null,
  task text not null,
  task_name text not null,
  task_url text not null,
  workspace_task text,
  enforcement_level text not null,
  status text not null,
  reached jsonb not null,
  message text not null,
  url text not null,
  outcomes jsonb not null,
  -- When its stage began, and since when its service has not reported. Null unless the stage runs and the result is open.
  started_at timestamptz,
  silent_since timestamptz
);
create index task_results_by_stage on views.task_results (task_stage, number);
create index task_results_by_run on views.task_results (run);
create index task_results_by_workspace on views.task_results (workspace);
create index task_results_by_organization on views.task_results (organization);
create index task_results_open on views.task_results (organization, silent_since) where silent_since is not null;
create index task_results_by_outcome on views.task_results using gin (outcomes jsonb_path_ops);

-- The requests to the services of open results. No view: the log does not contain attempts.
create table runs.task_requests (
  result text primary key,
  workspace text not null,
  organization text not null,
  attempts integer not null,
  next_attempt_at timestamptz not null,
  -- When the service has answered 200. Its report follows.
  accepted_at timestamptz
);
create index task_requests_by_workspace on runs.task_requests (workspace);
create index task_requests_by_organization on runs.task_requests (organization);

-- What services say about outcomes. No view: no event contains a text of this size.
create table runs.task_outcome_bodies (
  -- The id of the outcome. The encryption binds the content to it.
  id text primary key,
  run text not null,
  workspace text not null,
  organization text not null,
  -- Compressed and encrypted.
  content bytea not null
);
alter table runs.task_outcome_bodies alter column content set storage external;
create index task_outcome_bodies_by_run on runs.task_outcome_bodies (run);
create index task_outcome_bodies_by_workspace on runs.task_outcome_bodies (workspace);
create index task_outcome_bodies_by_organization on runs.task_outcome_bodies (organization);
create trigger refuse_retired_key before insert or update of content on runs.task_outcome_bodies
  for each row when (event_store.has_retired_key(new.content)) execute function event_store.refuse_retired_key();
