-- A binding without a value, which has an empty one, is shown and removed by its name as a flat tag, which has null: the
-- indexes of flat tags have both (IS_VALUELESS in libs/tags/carried-tags.queries.ts).
drop index views.workspace_tags_by_id;
create index workspace_tags_by_id on views.workspace_tags (views.tag_id(organization, key))
  where value is null or value = '';

drop index views.workspace_tags_flat;
create index workspace_tags_flat on views.workspace_tags (organization, key, workspace) include (created_at)
  where value is null or value = '';
