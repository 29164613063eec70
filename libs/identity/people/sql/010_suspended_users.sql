-- Suspended users keep memberships and teams, but have no tokens and cannot sign in.
alter table views.users add column suspended boolean not null default false;
