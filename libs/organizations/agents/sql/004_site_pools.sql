-- Pools of the site belong to no organization, and neither do their agents.
alter table views.agent_pools alter column organization drop not null;
alter table views.agents alter column organization drop not null;
alter table agents.pings alter column organization drop not null;
-- The other constraint compares no names without an organization.
create unique index agent_pools_site_name_key on views.agent_pools (lower(name collate "C")) where organization is null;
