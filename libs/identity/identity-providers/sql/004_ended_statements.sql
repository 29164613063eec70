-- True: the statement does not count any more. A scheduled job ends the memberships that it gave, and deletes the row.
alter table identity_providers.stated_groups add column ended boolean not null default false;
create index stated_groups_by_age on identity_providers.stated_groups (stated_at);
