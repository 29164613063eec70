-- Names of organizations without regard to case: each belongs to one organization. No view: organizations whose names
-- differed only in case before this table existed keep them, and only the oldest of them has the row.
create schema organizations;

create table organizations.reserved_names (
  folded text constraint organizations_reserved_name_key primary key,
  organization text not null unique
);

insert into organizations.reserved_names (folded, organization)
select distinct on (lower(name)) lower(name), id from views.organizations order by lower(name), created_at, id;
