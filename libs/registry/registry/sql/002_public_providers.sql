alter table views.registry_providers
  -- Of a provider in the public registry. Null: the provider is private, in the namespace of its organization.
  add column namespace text;

-- Namespaces of sources are compared without regard to case, so two spellings are one provider.
create unique index registry_providers_names_key
  on views.registry_providers (organization, name, coalesce(lower(namespace), ''));
drop index views.registry_providers_organization_name_key;
