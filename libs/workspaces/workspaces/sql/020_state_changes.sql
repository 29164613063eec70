-- When the current state became it; null if the workspace has none.
alter table views.workspaces add column state_changed_at timestamptz;
-- Whether the workspace has a time or a duration of its own after which its resources are destroyed. Null, as after the recovery
-- of a workspace that was deleted before this column existed, means false.
alter table views.workspaces add column has_destroy_time boolean default false;
create index workspaces_with_destroy_time on views.workspaces (id) where has_destroy_time;
