create table views.runs (
  id text primary key,
  workspace text not null,
  organization text not null,
  status text not null,
  -- When it came to each status: { "pending": time, … }
  reached jsonb not null,
  operation text not null,
  -- Whether it must wait for the workspace: speculative runs and saved plans do not.
  queues boolean not null,
  options jsonb not null,
  configuration_version text not null,
  message text not null,
  source text not null,
  -- { type, id, name }
  created_by jsonb not null,
  confirmed_by jsonb,
  has_changes boolean not null,
  -- { additions, changes, destructions, imports }, null until they are told
  planned jsonb,
  applied jsonb,
  cancel_requested_at timestamptz,
  force_cancel_available_at timestamptz,
  created_at timestamptz not null
) with (fillfactor = 60);
create index runs_by_workspace on views.runs (workspace, created_at desc, id desc);
create index runs_by_organization on views.runs (organization, created_at desc, id desc);
-- The queue of a workspace.
create index runs_open on views.runs (workspace, created_at, id)
  where status not in ('policy_soft_failed', 'planned_and_finished', 'applied', 'discarded', 'errored', 'canceled',
                       'force_canceled');
-- What executors ask for, again and again.
create index runs_for_executors on views.runs (organization, created_at, id)
  where status in ('plan_queued', 'apply_queued') or cancel_requested_at is not null;

-- The run that a workspace is at, or else was at last.
create table views.workspace_runs (
  workspace text primary key,
  organization text not null,
  current_run text not null
) with (fillfactor = 60);
create index workspace_runs_by_run on views.workspace_runs (current_run);
create index workspace_runs_by_organization on views.workspace_runs (organization);

create table views.run_events (
  id text primary key,
  run text not null,
  workspace text not null,
  organization text not null,
  -- Of the event in the run's stream
  version bigint not null,
  action text not null,
  description text,
  -- { type, id, name }
  actor jsonb not null,
  created_at timestamptz not null
);
create index run_events_by_run on views.run_events (run, version);
create index run_events_by_workspace on views.run_events (workspace);
create index run_events_by_organization on views.run_events (organization);

create table views.run_comments (
  id text primary key,
  run text not null,
  workspace text not null,
  organization text not null,
  run_event text not null,
  version bigint not null,
  body text not null,
  author jsonb not null,
  created_at timestamptz not null
);
create index run_comments_by_run on views.run_comments (run, version);
create index run_comments_by_workspace on views.run_comments (workspace);
create index run_comments_by_organization on views.run_comments (organization);
