-- What the list of workspaces is found, filtered, sorted and counted by (workspace-lists.queries.ts). None of it changes with
-- what happens every day, lock, unlock and settings: such an update touches no index.

-- Both come with Postgres, and whoever may create schemas may create them.
create extension if not exists pg_trgm;
create extension if not exists btree_gin;

-- With the id in it, names are looked through and counted without reading the rows.
alter table views.workspaces
  drop constraint workspaces_organization_name_key,
  add constraint workspaces_organization_name_key unique (organization, name) include (id);
create index workspaces_by_change on views.workspaces (organization, latest_change_at, name) include (id);

drop index views.workspaces_by_project;
create index workspaces_by_project on views.workspaces (project, name) include (id);

-- Parts of names. The organization belongs to it: a thousand of them have a workspace named network-prod. Wherever the
-- extension is: it may have been there before us.
do $$ begin
  execute format(
    'create index workspaces_by_part_of_name on views.workspaces using gin (organization, lower(name) %I.gin_trgm_ops)
       with (gin_pending_list_limit = 256)',
    (select n.nspname from pg_extension e join pg_namespace n on n.oid = e.extnamespace where e.extname = 'pg_trgm'));
end $$;

drop index views.workspace_tags_by_key;
create index workspace_tags_by_key on views.workspace_tags (organization, key, value, workspace);

-- Plans are made before it is known which organization is asked for. By the mean of a thousand small ones a large one would
-- be read whole and sorted: so the planner is told that there is but one, and takes each for as large as the largest.
alter table views.workspaces alter column organization set (n_distinct = 1);
alter table views.workspace_tags alter column organization set (n_distinct = 1);
