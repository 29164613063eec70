-- Who uses an agent pool: asked of every pool that is shown.
create index workspaces_by_agent_pool on views.workspaces ((settings ->> 'agentPoolId'))
  where settings ->> 'agentPoolId' is not null;
