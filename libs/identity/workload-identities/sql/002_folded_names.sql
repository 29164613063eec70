-- Names are unique regardless of case.
create index workload_identities_by_folded_name on views.workload_identities (team, lower(name collate "C"));
analyze views.workload_identities;
