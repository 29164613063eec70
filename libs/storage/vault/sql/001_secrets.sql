-- No view: no event holds a secret, so nothing can rebuild these rows. They go with what they belong to.
create schema vault;

create table vault.secrets (
  id text primary key,
  organization text not null,
  sealed bytea not null
);
create index secrets_by_organization on vault.secrets (organization);
