-- Named tokens of a team are told apart by their names; by a hash, for an index takes no text of 3000 bytes.
create unique index authentication_tokens_team_description_key on views.authentication_tokens (owner, md5(description))
  where kind = 'team' and description is not null;

-- A secret goes with its token, however that ends: also with an organization. Not by a reference, for a rebuild empties
-- the view (by truncate, which this does not see), and secrets cannot be made anew.
create function access.forget_secrets() returns trigger language plpgsql as $$
begin
  delete from access.token_hashes where token in (select id from gone);
  return null;
end $$;
create trigger forget_secrets after delete on views.authentication_tokens
  referencing old table as gone for each statement execute function access.forget_secrets();

-- Those of organizations that were deleted before there was the trigger.
delete from access.token_hashes where token not in (select id from views.authentication_tokens);

-- When a token was last used. No event and no view: it changes with every request, and nobody misses a minute of it.
create table access.token_uses (
  token text primary key references access.token_hashes on delete cascade,
  used_at timestamptz not null
) with (fillfactor = 60);
