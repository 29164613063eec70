-- Accounts of people at identity providers. A provider names each person by a subject that never changes.
create table views.user_identities (
  id text primary key,
  user_id text not null,
  provider text not null,
  issuer text not null,
  -- Null only while a rebuild has not yet read that the person was forgotten.
  subject text,
  created_at timestamptz not null
);
create unique index user_identities_issuer_subject_key on views.user_identities (issuer, subject);
create index user_identities_by_user on views.user_identities (user_id);
