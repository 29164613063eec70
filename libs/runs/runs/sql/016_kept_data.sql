-- Since when the logs and documents can be deleted: since the end of the run, or since an errored state arrived after it. Null before the end.
alter table views.runs add column kept_since timestamptz;
-- When a retention policy has deleted them.
alter table views.runs add column data_deleted_at timestamptz;
-- Whether the plan contains configuration that terraform has generated for imported resources.
alter table views.runs add column generated_configuration boolean not null default false;
update views.runs
   set kept_since = greatest((reached ->> status)::timestamptz, errored_state_at)
 where status in ('policy_soft_failed', 'planned_and_finished', 'applied', 'discarded', 'errored', 'canceled', 'force_canceled');

-- By age: in one workspace, and in a whole organization.
create index runs_kept_in_workspace on views.runs (workspace, kept_since, id)
  where kept_since is not null and data_deleted_at is null;
create index runs_kept_in_organization on views.runs (organization, kept_since, id)
  where kept_since is not null and data_deleted_at is null;
