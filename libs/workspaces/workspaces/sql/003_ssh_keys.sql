alter table views.workspaces add column ssh_key text;
-- Who loses it when a key is deleted.
create index workspaces_by_ssh_key on views.workspaces (ssh_key) where ssh_key is not null;
