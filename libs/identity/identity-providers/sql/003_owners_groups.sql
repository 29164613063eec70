-- The stated groups that may map to owners teams. `groups` contains those that may map to other teams.
alter table identity_providers.stated_groups add column owners_groups text[] not null default '{}';
