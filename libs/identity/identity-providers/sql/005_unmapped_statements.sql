-- The groups whose owners teams must still match the statement. Null: the teams of the person match the statement. A
-- scheduled job completes a sign-in that was interrupted between the two.
alter table identity_providers.stated_groups add column managed_owners_groups text[];
