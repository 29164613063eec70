-- Notifications by e-mail have no URL, so no host.
alter table views.notification_configurations
  alter column host drop not null,
  -- The people who get e-mails. Empty for other destinations; for teams, empty means all members.
  add column users text[] not null default '{}';

-- The people who need no other attempt of an e-mail, as ids: { "accepted": [], "refused": [] }. Null for other destinations.
alter table notifications.deliveries add column progress jsonb;
