-- [{ key, value }] in order of insertion; value null: a tag without a value.
alter table views.registry_providers add column tags jsonb not null default '[]';
