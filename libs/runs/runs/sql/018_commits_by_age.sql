-- For the job that reports runs of commits to Git hosts
create index configuration_versions_of_commits on views.configuration_versions (created_at, id) where ingress is not null;
-- For the status of all runs of a commit
create index configuration_versions_by_commit on views.configuration_versions ((ingress ->> 'identifier'), (ingress ->> 'commitSha'))
  where ingress is not null;
-- For the plans of a pull request, which its end cancels
create index configuration_versions_by_pull_request
  on views.configuration_versions (workspace, ((ingress #>> '{pullRequest,number}')::bigint))
  where ingress #>> '{pullRequest,number}' is not null;
