-- When the value of a tag was set, and by whom: { type, id, name }. What is there already was set when it was added, by
-- somebody whom its event knows: cadastre rebuild workspace_tags.
alter table views.workspace_tags add column set_at timestamptz;
update views.workspace_tags set set_at = created_at;
alter table views.workspace_tags alter column set_at set not null;
alter table views.workspace_tags add column set_by jsonb;
