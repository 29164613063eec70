-- Configuration versions whose commit is not fetched yet, for the job that fetches commits.
create index configuration_versions_unfetched on views.configuration_versions (created_at, id)
  where status = 'pending' and ingress is not null;
