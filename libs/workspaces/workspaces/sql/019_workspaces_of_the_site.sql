-- The list of the workspaces of all organizations by name.
create index workspaces_by_name_in_site on views.workspaces (lower(name), id);
