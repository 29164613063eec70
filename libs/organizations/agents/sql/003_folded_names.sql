-- Names are unique and found regardless of case.
create index agent_pools_by_folded_name on views.agent_pools (organization, lower(name collate "C"));
analyze views.agent_pools;
