-- When the person authenticated at the identity provider. Null: unknown, or another method.
alter table views.sessions add column authenticated_at timestamptz;
