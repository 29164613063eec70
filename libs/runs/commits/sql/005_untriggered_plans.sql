-- Commits of pull requests that get no plan, because they change no file that concerns the workspace, until the Git host has their
-- passing status. Rows that it does not get are deleted after some days.
create table commits.untriggered_plans (
  workspace text not null,
  identifier text not null,
  sha text not null,
  decided_at timestamptz not null,
  primary key (workspace, identifier, sha)
);
