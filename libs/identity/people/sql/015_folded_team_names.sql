-- Names of teams are unique and found regardless of case.
create index teams_by_folded_name on views.teams (organization, lower(name collate "C"));
analyze views.teams;
