-- Runs in `remote` mode go only to pools that an owner has chosen for them. Nobody has chosen any of the pools that exist.
alter table views.agent_pools add column remote_runs_enabled boolean not null default false;
