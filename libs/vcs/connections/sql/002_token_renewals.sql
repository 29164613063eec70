-- The client id of an OAuth application; null for connections with an access token
alter table views.oauth_clients add column key text;
-- Since when the Git host refuses the token; null if it does not
alter table views.oauth_clients add column token_refused_at timestamptz;

-- Tokens that Git hosts renew. The vault has what renews them. No view: a renewal is no change that anybody makes.
create schema connections;
create table connections.token_renewals (
  -- id of the OAuth token
  token text primary key,
  organization text not null,
  expires_at timestamptz not null,
  -- The process that renews the token, and until when no other process does
  lease text,
  leased_until timestamptz
);
create index token_renewals_by_organization on connections.token_renewals (organization);
