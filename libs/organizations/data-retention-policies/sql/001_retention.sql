-- Of a workspace, or of a whole organization: `owner` is the id of one or the other.
create table views.data_retention_policies (
  id text primary key,
  organization text not null,
  owner text not null,
  -- Null: nothing is deleted
  delete_older_than_days integer,
  constraint data_retention_policies_owner_key unique (owner)
);
create index data_retention_policies_by_organization on views.data_retention_policies (organization);
