-- The id of the identity provider whose token created the user or the group; `site` for a token without one. Tokens see only
-- users and groups of their own source.
alter table views.scim_users add column source text not null default 'site';
alter table views.scim_groups add column source text not null default 'site';
drop index views.scim_groups_display_name_key;
create unique index scim_groups_display_name_key on views.scim_groups (source, lower(display_name));
