-- The workspaces that follow a repository, for the job that reads repositories. In columns of their own: an index on
-- `settings` would prevent HOT updates of all other settings.
alter table views.workspaces add column vcs_token text, add column vcs_repository text;
update views.workspaces
   set vcs_token = settings #>> '{vcsRepo,oauthTokenId}', vcs_repository = settings #>> '{vcsRepo,identifier}'
 where settings #>> '{vcsRepo,oauthTokenId}' is not null;
create index workspaces_by_repository on views.workspaces (vcs_token, vcs_repository, id) where vcs_token is not null;
