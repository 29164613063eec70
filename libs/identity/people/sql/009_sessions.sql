create table views.sessions (
  id text primary key,
  user_id text not null,
  method text not null,
  provider text,
  provider_session text,
  assurance text not null,
  address text,
  user_agent text,
  created_at timestamptz not null,
  expired_at timestamptz not null
);
create index sessions_by_user on views.sessions (user_id, created_at);
create index sessions_by_expiry on views.sessions (expired_at);
create index sessions_by_provider on views.sessions (provider, provider_session) where provider is not null;

-- The hash of a cookie is deleted with its session, like the hash of a token (004_tokens.sql).
create trigger forget_secrets after delete on views.sessions
  referencing old table as gone for each statement execute function access.forget_secrets();

-- How the person signed in whose session created the token. Null: no session created it.
alter table views.authentication_tokens add column assurance text;
