-- The workspaces that are locked now. Lists find them here: an index on the lock in `workspaces` would make every lock and
-- unlock write all indexes of the row.
create table views.workspace_locks (
  organization text not null,
  workspace text not null,
  primary key (organization, workspace)
);

-- As for the tags (004_lists.sql): plans are made before the organization is chosen.
alter table views.workspace_locks alter column organization set (n_distinct = 1);

-- Lists are right before the view is rebuilt. The rebuild adds what processes of the earlier version lock meanwhile.
insert into views.workspace_locks (organization, workspace)
select organization, id from views.workspaces where lock is not null;
