-- How organizations, projects, workspaces and what hangs on these were: a row says how its subject was from `since` until
-- the next row of the same subject. Rows are only ever added; what is deleted keeps its history, until its organization
-- is deleted.
create table views.history_versions (
  -- ws-…, prj-…, org-…, var-… and so on
  subject text not null,
  -- 1, 2, 3 … of the subject
  ordinal bigint not null,
  organization text not null,
  -- When the event happened, and never before the row before
  since timestamptz not null,
  -- What differs from the data of the row with the number `frame`, which may be the row itself; null: it was deleted.
  frame bigint not null,
  data jsonb,
  -- What changed with it, in the names of the API
  changed text[] not null,
  -- The event: its id, type and version in its stream; who did it, by which request
  event uuid not null,
  type text not null,
  version bigint not null,
  actor_type text not null,
  actor_id text not null,
  actor_name text not null,
  request text,
  primary key (subject, ordinal) include (changed, actor_id, actor_name)
);
create index history_versions_since on views.history_versions (subject, since, ordinal);
-- All of a kind that there ever were in an organization
create index history_versions_births on views.history_versions (organization, type) where ordinal = 1;
-- Who ever had a name, and who ever used an SSH key
create index history_versions_by_name on views.history_versions ((data ->> 'name')) where 'name' = any (changed);
create index history_versions_by_ssh_key on views.history_versions ((data ->> 'sshKey')) where 'ssh-key' = any (changed);

-- What was known of runs: how they stood at any time follows from when they came to each status.
create table views.history_runs (
  run text primary key,
  workspace text not null,
  organization text not null,
  -- Whether it must wait for the workspace
  queues boolean not null,
  created_at timestamptz not null,
  -- The status that it has come to, and when to each: { "pending": time, … }
  status text not null,
  reached jsonb not null,
  -- When it ended
  finished_at timestamptz
) with (fillfactor = 60);
create index history_runs_by_workspace on views.history_runs (workspace, finished_at desc, run desc);

-- Who held the lock of a workspace, from when to when.
create table views.history_locks (
  -- Of the event that locked it
  id uuid primary key,
  workspace text not null,
  organization text not null,
  -- { type, id, name }
  holder jsonb not null,
  reason text not null,
  locked_at timestamptz not null,
  -- Null while it is held
  unlocked_at timestamptz,
  unlocked_by jsonb,
  forced boolean
) with (fillfactor = 80);
create index history_locks_by_workspace on views.history_locks (workspace, locked_at desc, id desc);
create index history_locks_held on views.history_locks (organization, locked_at, id) where unlocked_at is null;
