-- For the job that reports runs of commits to Git hosts
create index configuration_versions_of_commits on views.configuration_versions (created_at, id) where ingress is not null;
