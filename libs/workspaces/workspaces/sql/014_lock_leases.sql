-- When locks end by themselves. The job that ends them finds them by this index, without reading other locks.
alter table views.workspace_locks add column expires_at timestamptz;
create index workspace_locks_by_expiry on views.workspace_locks (expires_at) where expires_at is not null;
