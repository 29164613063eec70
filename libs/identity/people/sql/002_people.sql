-- Who belongs to an organization: people who have accepted, and those who are invited and may not enter yet.
create table views.organization_memberships (
  id text primary key,
  organization text not null,
  user_id text not null,
  email text not null,
  status text not null,
  created_at timestamptz not null,
  constraint organization_memberships_organization_user_key unique (organization, user_id)
);
create index organization_memberships_by_user on views.organization_memberships (user_id);

-- What teams have been given on workspaces and projects; `custom` is null where the level says it all.
create table views.team_workspaces (
  id text primary key,
  organization text not null,
  team text not null,
  workspace text not null,
  access text not null,
  custom jsonb,
  created_at timestamptz not null,
  constraint team_workspaces_team_workspace_key unique (team, workspace)
);
create index team_workspaces_by_workspace on views.team_workspaces (workspace, team);

create table views.team_projects (
  id text primary key,
  organization text not null,
  team text not null,
  project text not null,
  access text not null,
  custom jsonb,
  created_at timestamptz not null,
  constraint team_projects_team_project_key unique (team, project)
);
create index team_projects_by_project on views.team_projects (project, team);
