-- The public keys with which others verify the tokens of runs. The vault stores the private keys.
create table views.oidc_keys (
  id text primary key,
  public_key jsonb not null,
  version bigint not null,
  created_at timestamptz not null
);
