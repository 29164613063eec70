-- Executors of the site serve many organizations. Each of their leases has a number of its organization, from 1, so that the index
-- limits the number of leases also between processes. Null for executors of the organization itself.
alter table runs.leases add column slot integer;
create unique index leases_slot on runs.leases (organization, slot);

-- The last claim of executors of the site in an organization: the organization with the lowest number is the next. No view: after a
-- restore, all organizations begin equally.
create sequence runs.claim_turn;
create table runs.claim_turns (
  organization text primary key,
  turn bigint not null
) with (fillfactor = 50);

-- The runs that wait for an executor, without those that users have canceled at some time.
create index runs_queued on views.runs (organization, created_at, id) where status in ('plan_queued', 'apply_queued');
