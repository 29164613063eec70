-- Accounts that only an invitation has created: nobody has signed in, confirmed the account or accepted. The verified owner
-- of the address takes such an account over, and it ends with its last invitation.
alter table views.users add column only_invited boolean not null default false;
create index users_only_invited on views.users (id) where only_invited;

-- The caller that has sent the invitation; null for members that nobody invited.
alter table views.organization_memberships add column invited_by text;
create index organization_memberships_pending on views.organization_memberships (organization) where status = 'invited';
create index organization_memberships_pending_of_caller on views.organization_memberships (invited_by)
  where status = 'invited';
