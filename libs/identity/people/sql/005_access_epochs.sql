-- Counts the changes of whatever an identity depends on: a user, a team, an organization. A gateway keeps an identity together
-- with the sum of these counts, and the first statement of every request compares the sum (libs/access/epochs/access-epochs.queries.ts). Rows are
-- never deleted, or sums could return to an earlier value. No view: the counts only have to grow, and no event holds them.
create table access.epochs (
  subject text primary key,
  epoch bigint not null
) with (fillfactor = 60);

create function access.raise_epoch(_subject text) returns void language sql as $$
  insert into access.epochs as known (subject, epoch) values (_subject, 1)
  on conflict (subject) do update set epoch = known.epoch + 1
$$;

-- A user who has not accepted an invitation has no access by it, so changes of their teams there raise no epoch. The row lock
-- makes this wait for an acceptance that is being written: without it neither of the two would see the other.
create function access.raise_epoch_of_member(_user text, _organization text) returns void language plpgsql as $$
begin
  perform from views.organization_memberships
    where user_id = _user and organization = _organization and status = 'invited' for share;
  if not found then
    perform access.raise_epoch(_user);
  end if;
end $$;

-- Raises CA401: the gateway reads the caller again and repeats the request. The argument keeps Postgres from calling it while
-- it plans.
create function access.refuse_outdated(_epoch bigint) returns boolean language plpgsql stable as $$
begin
  raise exception 'access has changed since this caller was read' using errcode = 'CA401';
end $$;

drop function access.fresh(bigint);
drop table views.access_epoch;
