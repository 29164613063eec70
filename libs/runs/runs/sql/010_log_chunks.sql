-- The output of phases that are being executed. A scheduled job moves it to the file store when the phase has ended. No view: no event
-- contains output, so nothing can compute these rows again.
create table runs.log_chunks (
  -- `<phase>/<start>`: the encryption binds the content to it.
  id text primary key,
  -- The id of the plan or apply.
  phase text not null,
  -- The position of the first byte in the output of the phase.
  start bigint not null,
  -- Bytes of the output, before compression.
  length integer not null,
  -- The number of the chunk in the log, from 0.
  number integer not null,
  -- Whether the output begins with a JSON object, whether this chunk ends with the end of a line, and whether the log was cut after it.
  is_json boolean not null,
  ends_line boolean not null,
  is_cut boolean not null,
  run text not null,
  workspace text not null,
  organization text not null,
  content bytea not null,
  constraint log_chunks_start unique (phase, start)
);
-- The content is compressed and encrypted.
alter table runs.log_chunks alter column content set storage external;
create index log_chunks_by_run on runs.log_chunks (run);
create index log_chunks_by_workspace on runs.log_chunks (workspace);
create index log_chunks_by_organization on runs.log_chunks (organization);
create trigger refuse_retired_key before insert or update of content on runs.log_chunks
  for each row when (event_store.has_retired_key(new.content)) execute function event_store.refuse_retired_key();

-- The runs that can have files. No view: deleted runs leave no rows there, and their files must still be found.
create table runs.kept_run_files (
  id text primary key,
  owner text not null,
  organization text not null
);
create index kept_run_files_by_owner on runs.kept_run_files (owner);
create index kept_run_files_by_organization on runs.kept_run_files (organization);
