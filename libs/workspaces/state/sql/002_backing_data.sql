-- The version whose state this one brought back.
alter table views.state_versions add column rollback_of text;

-- Which files there may be, for those who remove them (libs/blob-store/file-sweeper.follower.ts). No view: what is
-- deleted leaves no rows there, and its files must still be found.
create schema state;
create table state.kept_files (
  id text primary key,
  workspace text not null,
  organization text not null
);
create index kept_files_by_workspace on state.kept_files (workspace);
create index kept_files_by_organization on state.kept_files (organization);
