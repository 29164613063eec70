-- Names are unique regardless of case.
create index variable_sets_by_folded_name on views.variable_sets (organization, lower(name collate "C"));
analyze views.variable_sets;
