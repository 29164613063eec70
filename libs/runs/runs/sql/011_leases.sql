-- The executor that has claimed the plan and the apply: { agent, agentName, pool, fence }. Null if nobody has.
alter table views.runs add column plan_execution jsonb, add column apply_execution jsonb;

-- The claims of executors that work now. They renew them every few seconds, so a renewal is not an event. No view: nothing can
-- rebuild it.
create table runs.leases (
  run text primary key,
  organization text not null,
  agent text not null,
  fence integer not null,
  expires_at timestamptz not null
) with (fillfactor = 50);
create index leases_by_agent on runs.leases (agent);
