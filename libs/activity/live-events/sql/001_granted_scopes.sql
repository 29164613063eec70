-- The workspaces and projects that teams have access to, and those that they had access to until the workspace or project
-- was deleted. Followers of changes learn from it that a resource that they could read has been deleted.
create table views.granted_scopes (
  -- tws-… or tprj-…
  id text primary key,
  organization text not null,
  team text not null,
  -- ws-… or prj-…
  scope text not null
);
create index granted_scopes_by_scope on views.granted_scopes (scope, team);
create index granted_scopes_by_team on views.granted_scopes (team);
create index granted_scopes_by_organization on views.granted_scopes (organization);
