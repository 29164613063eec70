-- Codes that a person approved, and that a program exchanges for a token. No event contains them.
create schema oauth;

create table oauth.authorization_codes (
  hash bytea primary key,
  client_id text not null,
  redirect_uri text not null,
  code_challenge text not null,
  user_id text not null,
  -- The session in which the person approved.
  session text not null,
  created_at timestamptz not null,
  expired_at timestamptz not null,
  used_at timestamptz,
  -- When the code was used a second time. Its token is then revoked.
  replayed_at timestamptz,
  -- Id of the token that was issued.
  token text
);
create index authorization_codes_by_time on oauth.authorization_codes (created_at);
