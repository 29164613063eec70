-- Rights to override policies, which events of earlier versions do not have.
update views.teams set organization_access = '{"delegatePolicyOverrides": false}' || organization_access;
update views.team_workspaces set custom = '{"policyOverrides": false}' || custom where custom is not null;
update views.team_projects set custom = '{"policyOverrides": false}' || custom where custom is not null;
