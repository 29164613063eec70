-- Files of other slices go with something else than a workspace.
alter table runs.kept_archives rename column workspace to owner;
alter index runs.kept_archives_by_workspace rename to kept_archives_by_owner;
