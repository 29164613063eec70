-- Which workspaces (consumer) may read the state of which (workspace), where that is said of each by itself.
create table views.remote_state_consumers (
  workspace text not null,
  consumer text not null,
  organization text not null,
  primary key (workspace, consumer)
);
create index remote_state_consumers_by_consumer on views.remote_state_consumers (consumer);
create index remote_state_consumers_by_organization on views.remote_state_consumers (organization);
