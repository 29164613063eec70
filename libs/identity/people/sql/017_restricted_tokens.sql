-- The part of its owner's access that a token has. Earlier tokens, and tokens of earlier processes, have all of it.
alter table views.authentication_tokens
  add column access text not null default 'full',
  add column only_organization text;
