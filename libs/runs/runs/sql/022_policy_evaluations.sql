create table views.policy_evaluations (
  id text primary key,
  run text not null,
  task_stage text not null,
  workspace text not null,
  organization text not null,
  status text not null,
  -- When the evaluation reached each status.
  reached jsonb not null,
  -- The policy sets with their policies, as they were when the plan began.
  sets jsonb not null,
  -- The result of each policy of each set. Null until the plan is done. What policies have said is in the vault.
  outcomes jsonb,
  -- The ids of the outcomes of the sets.
  outcome_ids text[] not null
);
create index policy_evaluations_by_run on views.policy_evaluations (run);
create index policy_evaluations_by_stage on views.policy_evaluations (task_stage);
create index policy_evaluations_by_workspace on views.policy_evaluations (workspace);
create index policy_evaluations_by_organization on views.policy_evaluations (organization);
create index policy_evaluations_by_outcome on views.policy_evaluations using gin (outcome_ids);
