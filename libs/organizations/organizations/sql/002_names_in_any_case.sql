-- For who asks without knowing how the name is written, as the command line does for providers.
create index organizations_by_name_in_any_case on views.organizations (lower(name));
