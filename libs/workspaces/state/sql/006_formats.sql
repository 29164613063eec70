-- The version of the format of the state file. Until now only format 4 was accepted.
alter table views.state_versions add column format integer;
update views.state_versions set format = 4 where size is not null;

-- For the job that ends versions whose state was never uploaded.
create index state_versions_pending on views.state_versions (created_at) where status = 'pending';
