-- An identity of SAML is an entity ID with a NameID, so two providers must not have the same entity ID.
create unique index identity_providers_saml_issuer_key on views.identity_providers ((settings ->> 'issuer'))
  where settings ->> 'protocol' = 'saml';
