create table views.run_triggers (
  id text primary key,
  organization text not null,
  -- The workspace in which runs start.
  workspace text not null,
  -- The workspace whose applies start them.
  source text not null,
  created_at timestamptz not null,
  -- Applies before this time start no runs.
  fires_from timestamptz not null,
  constraint run_triggers_workspace_source_key unique (workspace, source)
);
create index run_triggers_by_source on views.run_triggers (source);
create index run_triggers_by_organization on views.run_triggers (organization, created_at, id);
