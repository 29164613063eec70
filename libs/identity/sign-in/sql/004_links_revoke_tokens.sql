-- Whether using the link revokes the tokens that the person has then.
alter table sign_in.links add column revokes_tokens boolean not null default false;
