-- Nobody is told apart by the case of their address.
create unique index users_email_key on views.users (lower(email));

-- By which address they were invited, as it was written; null for who founded the organization.
alter table views.organization_memberships alter column email drop not null;

alter table views.teams
  add column sso_team_id text,
  add column allow_member_token_management boolean not null default true;
-- Of logs from before there was this right: what their events mean today.
update views.teams set organization_access = '{"accessSecretTeams": false}' || organization_access;
