create schema access;

create table views.users (
  id text primary key,
  username text not null constraint users_username_key unique,
  email text,
  site_admin boolean not null,
  created_at timestamptz not null
);

create table views.teams (
  id text primary key,
  organization text not null,
  name text not null,
  visibility text not null,
  organization_access jsonb not null,
  created_at timestamptz not null,
  constraint teams_organization_name_key unique (organization, name)
);

create table views.team_members (
  team text not null,
  user_id text not null,
  primary key (team, user_id)
);
create index team_members_by_user on views.team_members (user_id);

create table views.authentication_tokens (
  id text primary key,
  kind text not null,
  owner text not null,
  organization text,
  description text,
  created_by_type text,
  created_by text,
  created_at timestamptz not null,
  expired_at timestamptz
);
create index authentication_tokens_by_owner on views.authentication_tokens (owner, created_at desc);
-- Organizations have one token of a kind, and teams one that has no name.
create unique index authentication_tokens_only_one on views.authentication_tokens (owner, kind)
  where kind in ('organization', 'audit-trails') or (kind = 'team' and description is null);
create index authentication_tokens_by_organization on views.authentication_tokens (organization);

-- Secrets are no view: no event holds them, nothing can rebuild them. A hash without a row in the view opens nothing.
create table access.token_hashes (
  token text primary key,
  hash bytea not null constraint token_hashes_hash_key unique
);

-- Raised by every event that gives or takes access. A gateway remembers who a token is together with this number, and
-- every statement it sends for that caller checks it (access.fresh): what was taken away is gone at the next request.
create table views.access_epoch (
  id integer primary key,
  epoch bigint not null
);

create function access.fresh(_epoch bigint) returns boolean language plpgsql stable as $$
begin
  if _epoch is distinct from coalesce((select epoch from views.access_epoch where id = 1), 0) then
    raise exception 'access has changed since this caller was read' using errcode = 'CA401';
  end if;
  return true;
end $$;
