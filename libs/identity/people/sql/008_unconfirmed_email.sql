-- The address that a person asked for. Not unique: a refusal would show that another account has the address.
alter table views.users add column unconfirmed_email text;
