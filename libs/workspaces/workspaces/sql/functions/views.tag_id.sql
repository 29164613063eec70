CREATE OR REPLACE FUNCTION views.tag_id(_organization text, _name text)
 RETURNS text
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
AS $function$
  select 'tag-' || left(encode(sha256(replace(_organization || E'\n' || _name, E'\\', E'\\\\')::bytea), 'hex'), 16)
$function$;
