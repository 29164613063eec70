-- Pull requests whose comment may not show the present plans, so that the job that writes comments does not group all plans of the last
-- days. A follower lists them, and each process lists once what it may have missed before it started.
create table commits.changed_pull_requests (
  organization text not null,
  -- id of the OAuth token
  token text not null,
  identifier text not null,
  number bigint not null,
  -- grows with each change, so that a pull request is only removed from the list as it was read
  changes bigint not null,
  changed_at timestamptz not null,
  -- after a failure; null if there was none
  paused_until timestamptz,
  primary key (organization, token, identifier, number)
);
create index changed_pull_requests_by_age on commits.changed_pull_requests (changed_at);
