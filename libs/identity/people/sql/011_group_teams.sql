-- Sign-ins and SCIM find the teams of the groups of a person.
create index teams_by_sso_team on views.teams (sso_team_id) where sso_team_id is not null;
