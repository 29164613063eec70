-- A binding without a value has null, as among the tags of workspaces.
alter table views.project_tags alter column value drop not null;
update views.project_tags set value = null where value = '';
