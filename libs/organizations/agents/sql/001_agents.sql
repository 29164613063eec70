-- What no event tells: how agents are, which they say every few seconds.
create schema agents;

create table views.agent_pools (
  id text primary key,
  organization text not null,
  name text not null,
  organization_scoped boolean not null,
  created_at timestamptz not null,
  constraint agent_pools_organization_name_key unique (organization, name)
);

-- What a pool is for, and what it is not for: `scope` is allowedWorkspaces, allowedProjects or excludedWorkspaces, and
-- `target` the workspace or project.
create table views.agent_pool_scopes (
  pool text not null,
  organization text not null,
  scope text not null,
  target text not null,
  primary key (pool, scope, target)
);
create index agent_pool_scopes_by_target on views.agent_pool_scopes (target);
create index agent_pool_scopes_by_organization on views.agent_pool_scopes (organization);

create table views.agents (
  id text primary key,
  organization text not null,
  pool text not null,
  name text,
  ip_address text,
  created_at timestamptz not null
);
create index agents_by_pool on views.agents (pool, created_at desc);
create index agents_by_organization on views.agents (organization);

-- No view: nothing can rebuild it, and nothing needs to.
create table agents.pings (
  agent text primary key,
  pool text not null,
  organization text not null,
  status text not null,
  at timestamptz not null
) with (fillfactor = 50);
create index pings_by_pool on agents.pings (pool);
create index pings_by_organization on agents.pings (organization);
