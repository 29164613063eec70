-- What the plan of a health assessment has found about drift and checks; null for runs whose executors report nothing of that.
alter table views.runs add column assessed jsonb;
create index runs_of_assessments on views.runs (workspace, created_at desc, id desc) where source = 'assessment';
create index runs_waiting_for_assessment on views.runs (organization) where source = 'assessment' and status = 'plan_queued';
-- The runs of people, webhooks and triggers: lists, and the last one of a workspace.
create index runs_without_assessments on views.runs (workspace, created_at desc, id desc) where source <> 'assessment';
create index runs_applied on views.runs (workspace) where status = 'applied';

create table views.assessment_results (
  id text primary key,
  workspace text not null,
  organization text not null,
  run text not null,
  succeeded boolean not null,
  drifted boolean not null,
  counts jsonb not null,
  error_message text,
  -- Since when the last successful assessments have found drift, and failed checks; null if the last one has not.
  drifted_since timestamptz,
  checks_failing_since timestamptz,
  created_at timestamptz not null
);
create index assessment_results_by_workspace on views.assessment_results (workspace, created_at desc, id desc);
create index assessment_results_by_organization on views.assessment_results (organization);

-- Since when this site has assessed workspaces: one row. Empty after a restore, so that a copy begins nothing by itself.
create table runs.assessments_begun (
  only_row boolean primary key default true check (only_row),
  begun_at timestamptz not null
);
