-- Lists by tags that workspaces inherit: which project a workspace is in, and which organization, stands in the indexes
-- that those are looked through and counted by.
alter table views.workspaces
  drop constraint workspaces_organization_name_key,
  add constraint workspaces_organization_name_key unique (organization, name) include (id, project);

drop index views.workspaces_by_project;
create index workspaces_by_project on views.workspaces (project, name) include (id, organization);
