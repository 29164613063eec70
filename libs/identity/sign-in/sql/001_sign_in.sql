-- Secrets of people who sign in. No event contains them, so nothing can rebuild these rows.
create schema sign_in;

create table sign_in.passwords (
  user_id text primary key,
  -- Argon2id in PHC format.
  hash text not null,
  changed_at timestamptz not null
);

create table sign_in.totp_secrets (
  user_id text primary key,
  encrypted bytea not null,
  -- The time step of the last code that was used. Older codes and this one are refused.
  last_step bigint not null
);
create trigger refuse_retired_key before insert or update of encrypted on sign_in.totp_secrets
  for each row when (event_store.has_retired_key(new.encrypted)) execute function event_store.refuse_retired_key();

create table sign_in.recovery_codes (
  user_id text not null,
  hash bytea not null,
  primary key (user_id, hash)
);

create table sign_in.passkeys (
  id text primary key,
  user_id text not null,
  credential_id text not null,
  public_key bytea not null,
  counter bigint not null,
  transports text[] not null,
  name text not null,
  created_at timestamptz not null,
  last_used_at timestamptz,
  constraint passkeys_credential_key unique (credential_id)
);
create index passkeys_by_user on sign_in.passkeys (user_id);

create table sign_in.links (
  hash bytea primary key,
  user_id text not null,
  resets_methods boolean not null,
  expired_at timestamptz not null
);
create index links_by_user on sign_in.links (user_id);

-- Challenges of passkeys that were answered. A second answer is refused until the challenge expires.
create table sign_in.answered_challenges (
  hash bytea primary key,
  expired_at timestamptz not null
);

-- Attempts to sign in, by account, by address and by device.
create table sign_in.attempts (
  key text primary key,
  failures integer not null,
  last_at timestamptz not null,
  next_at timestamptz not null
);
create index attempts_by_time on sign_in.attempts (last_at);
