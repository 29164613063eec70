-- The id of a flat tag, as libs/tags/tag-bindings.document.ts makes it: what a request names by its id is looked up here.
-- In plain SQL, so that Postgres puts it in place of the call, in the index and in what is asked of it alike.
create function views.tag_id(_organization text, _name text) returns text language sql immutable parallel safe as $$
  select 'tag-' || left(encode(sha256(replace(_organization || E'\n' || _name, E'\\', E'\\\\')::bytea), 'hex'), 16)
$$;

create index workspace_tags_by_id on views.workspace_tags (views.tag_id(organization, key)) where value is null;

-- Who carries a flat tag, since when: lists and counts of tags look at nothing else, and pass over no bindings.
create index workspace_tags_flat on views.workspace_tags (organization, key, workspace) include (created_at)
  where value is null;
