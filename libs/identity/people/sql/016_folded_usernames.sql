-- Names of users are unique and found regardless of case.
create index users_by_folded_name on views.users (lower(username collate "C"));
analyze views.users;
