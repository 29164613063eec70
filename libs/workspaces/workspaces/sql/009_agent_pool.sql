-- Apart from the other settings: with a part of them in an index, each change of any setting was one of all indexes.
alter table views.workspaces add column agent_pool text;
update views.workspaces set agent_pool = settings ->> 'agentPoolId' where settings ->> 'agentPoolId' is not null;
drop index views.workspaces_by_agent_pool;
create index workspaces_by_agent_pool on views.workspaces (agent_pool) where agent_pool is not null;
