-- Workload identities issue a token for each job of a pipeline, with the name of the pipeline as its description. So the
-- descriptions of these tokens are not unique.
drop index views.authentication_tokens_team_description_key;
create unique index authentication_tokens_team_description_key on views.authentication_tokens (owner, md5(description))
  where kind = 'team' and description is not null and created_by_type is distinct from 'workload-identities';

create index authentication_tokens_of_workloads on views.authentication_tokens (owner, expired_at)
  where created_by_type = 'workload-identities';
create index authentication_tokens_of_workloads_by_expiry on views.authentication_tokens (expired_at)
  where created_by_type = 'workload-identities';
