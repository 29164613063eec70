-- Deleted workspaces that can be recovered, with the rows that the views had of them. Their other contents stay where they
-- are, because every statement about them joins the workspace.
create table views.deleted_workspaces (
  id text primary key,
  organization text not null,
  project text not null,
  name text not null collate "C",
  forced boolean not null,
  -- { id, type, name } of the caller
  deleted_by jsonb not null,
  deleted_at timestamptz not null,
  recoverable_until timestamptz not null,
  -- The row of views.workspaces, unlocked.
  contents jsonb not null
);
create index deleted_workspaces_by_organization on views.deleted_workspaces (organization, deleted_at desc, id);
create index deleted_workspaces_by_end on views.deleted_workspaces (recoverable_until);

create table views.deleted_workspace_tags (
  workspace text not null,
  organization text not null,
  key text not null,
  -- The row of views.workspace_tags.
  contents jsonb not null,
  primary key (workspace, key)
);
create index deleted_workspace_tags_by_organization on views.deleted_workspace_tags (organization);
