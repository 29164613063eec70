-- The general settings of the site: one row, or none while all settings have their defaults.
create table views.general_settings (
  id text primary key,
  settings jsonb not null
);
