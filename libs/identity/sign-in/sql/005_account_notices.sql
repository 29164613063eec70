-- Mails to people about changes of their accounts. The tables are not views, because the log does not record which mails
-- were sent. Rows contain ids only, and the log contains the rest.
create table sign_in.account_mails (
  id text primary key,
  user_id text not null,
  status text not null check (status in ('pending', 'sent', 'skipped', 'failed')),
  attempts integer not null default 0,
  created_at timestamptz not null,
  -- Null unless the mail is pending.
  next_attempt_at timestamptz
);
create index account_mails_due on sign_in.account_mails (next_attempt_at) where status = 'pending';
create index account_mails_by_user on sign_in.account_mails (user_id, created_at desc);
create index account_mails_by_time on sign_in.account_mails (created_at);

create table sign_in.account_notices (
  -- The id of the event.
  id text primary key,
  user_id text not null,
  type text not null,
  stream text not null,
  version bigint not null,
  created_at timestamptz not null,
  -- The mail that contains the notice; null before there is one.
  mail text
);
create index account_notices_by_user on sign_in.account_notices (user_id, created_at desc);
create index account_notices_by_mail on sign_in.account_notices (mail) where mail is not null;
create index account_notices_unmailed on sign_in.account_notices (created_at) where mail is null;
create index account_notices_by_time on sign_in.account_notices (created_at);
