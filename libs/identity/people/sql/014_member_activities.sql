-- When a user last did something in an organization, as the log records it (libs/people/activity). One row for each user
-- that has ever acted there, member or not. It is updated in place, at most once a minute.
create table views.member_activities (
  organization text not null,
  user_id text not null,
  -- To the minute, rounded down.
  last_active_at timestamptz not null,
  primary key (organization, user_id)
) with (fillfactor = 80);
