create schema identity_providers;

-- The groups that a provider stated about a person at the last sign-in with it. No event contains them.
create table identity_providers.stated_groups (
  user_id text not null,
  provider text not null,
  groups text[] not null,
  stated_at timestamptz not null,
  primary key (user_id, provider)
);
create index stated_groups_by_provider on identity_providers.stated_groups (provider);
