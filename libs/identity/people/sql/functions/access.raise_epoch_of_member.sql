CREATE OR REPLACE FUNCTION access.raise_epoch_of_member(_user text, _organization text)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
begin
  perform from views.organization_memberships
    where user_id = _user and organization = _organization and status = 'invited' for share;
  if not found then
    perform access.raise_epoch(_user);
  end if;
end $function$;
