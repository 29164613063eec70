-- The variables of runs that are in progress, as their plans got them. An apply must not use other values than its plan. No view:
-- no event contains values.
create table runs.job_values (
  -- The encryption binds the content to the run.
  run text primary key,
  workspace text not null,
  organization text not null,
  -- Compressed and encrypted.
  content bytea not null
);
alter table runs.job_values alter column content set storage external;
create index job_values_by_workspace on runs.job_values (workspace);
create index job_values_by_organization on runs.job_values (organization);
create trigger refuse_retired_key before insert or update of content on runs.job_values
  for each row when (event_store.has_retired_key(new.content)) execute function event_store.refuse_retired_key();
