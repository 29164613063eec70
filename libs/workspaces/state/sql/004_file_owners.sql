-- Files of other slices go with something else than a workspace.
alter table state.kept_files rename column workspace to owner;
alter index state.kept_files_by_workspace rename to kept_files_by_owner;
