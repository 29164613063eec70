-- The workspaces that follow a repository, for the job that reads repositories.
create index workspaces_by_repository on views.workspaces
  ((settings #>> '{vcsRepo,oauthTokenId}'), (settings #>> '{vcsRepo,identifier}'), id)
  where settings #>> '{vcsRepo,oauthTokenId}' is not null;
