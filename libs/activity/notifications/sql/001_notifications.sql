create table views.notification_configurations (
  id text primary key,
  organization text not null,
  subscribable_type text not null,
  -- The id of the workspace, team or organization.
  subscribable text not null,
  name text not null,
  destination_type text not null,
  -- The rest of the URL is a secret and in the vault.
  host text not null,
  triggers text[] not null,
  enabled boolean not null,
  -- Events before this time send nothing.
  notifies_from timestamptz not null,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create index notification_configurations_by_subscribable
  on views.notification_configurations (subscribable, name, id);
create index notification_configurations_by_organization on views.notification_configurations (organization);

create schema notifications;

-- One row for each notification, and one for the last verification of each configuration. No view: the log does not contain what
-- destinations answer. Rows go with their configuration.
create table notifications.deliveries (
  id text primary key,
  configuration text not null,
  organization text not null,
  trigger text not null,
  -- What the notification is about: ids, and texts that are not names of people.
  subject jsonb not null,
  -- Deliveries to one host share a limit.
  host text not null,
  status text not null check (status in ('pending', 'delivered', 'failed')),
  attempts integer not null default 0,
  created_at timestamptz not null,
  -- Null unless the delivery is pending.
  next_attempt_at timestamptz,
  attempted_at timestamptz,
  -- The last response, encrypted, because a destination can repeat the request in it.
  response bytea
);
create index deliveries_due on notifications.deliveries (host, next_attempt_at) where status = 'pending';
create index deliveries_by_configuration on notifications.deliveries (configuration, created_at desc, id);
create index deliveries_ended on notifications.deliveries (attempted_at) where status <> 'pending';
create index deliveries_by_organization on notifications.deliveries (organization);
create trigger refuse_retired_key before insert or update of response on notifications.deliveries
  for each row when (event_store.has_retired_key(new.response)) execute function event_store.refuse_retired_key();
