-- Names are unique regardless of case.
create index saved_views_by_folded_name on views.saved_views (organization, created_by, lower(name collate "C"));
analyze views.saved_views;
