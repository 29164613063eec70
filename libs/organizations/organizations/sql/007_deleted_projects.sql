-- Deleted projects that can be recovered, with their rows in views.projects. The access of teams and the scopes of agent
-- pools stay where they are, because every statement about them joins the project.
create table views.deleted_projects (
  id text primary key,
  organization text not null,
  name text not null,
  -- { id, type, name } of the caller
  deleted_by jsonb not null,
  deleted_at timestamptz not null,
  recoverable_until timestamptz not null,
  contents jsonb not null
);
create index deleted_projects_by_organization on views.deleted_projects (organization, deleted_at desc, id);
create index deleted_projects_by_end on views.deleted_projects (recoverable_until);

create table views.deleted_project_tags (
  project text not null,
  organization text not null,
  key text not null,
  -- The row of views.project_tags.
  contents jsonb not null,
  primary key (project, key)
);
create index deleted_project_tags_by_organization on views.deleted_project_tags (organization);
