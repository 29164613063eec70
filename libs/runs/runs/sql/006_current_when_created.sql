-- A configuration version is the current one of its workspace from its creation, and not from its upload.
update views.configuration_versions
   set current_since = created_at
 where not speculative and not provisional and current_since is distinct from created_at;
