-- The webhook of each repository that workspaces of a connection follow. The vault has its secret under its id, which is also
-- in the address that the host sends to.
create table commits.webhooks (
  id text primary key,
  organization text not null,
  -- id of the OAuth token
  token text not null,
  identifier text not null,
  -- id at the Git host; null if the host has no webhook yet
  host_id text,
  checked_at timestamptz,
  -- When the server tries again to remove the webhook, after its host did not answer
  remove_after timestamptz,
  unique (token, identifier)
);

-- What webhooks have sent. A second delivery with the same id changes nothing.
create table commits.webhook_deliveries (
  webhook text not null,
  delivery text not null,
  event text not null,
  received_at timestamptz not null,
  handled_at timestamptz,
  primary key (webhook, delivery)
);
create index webhook_deliveries_to_handle on commits.webhook_deliveries (webhook) where handled_at is null;
create index webhook_deliveries_by_age on commits.webhook_deliveries (received_at);

-- What became of deliveries and commits, and why. Old rows are deleted.
create table commits.vcs_events (
  id text primary key,
  organization text not null,
  -- id of the OAuth client
  oauth_client text not null,
  -- null for an event about the repository
  workspace text,
  level text not null,
  message text not null,
  suggested_action text,
  created_at timestamptz not null
);
create index vcs_events_by_organization on commits.vcs_events (organization, created_at desc, id);
create index vcs_events_by_age on commits.vcs_events (created_at);
