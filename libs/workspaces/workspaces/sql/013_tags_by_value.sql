-- Lists find workspaces by the value of a tag, whatever its key.
create index workspace_tags_by_value on views.workspace_tags (organization, value, workspace) where value is not null;
