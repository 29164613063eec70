-- The order in which checkpoints were committed. The publisher sends the checkpoints after the last position that it has sent.
alter table audit_trail.signed_checkpoints add column position bigint;

update audit_trail.signed_checkpoints c set position = numbered.position
  from (select organization, origin, size, row_number() over (order by signed_at, organization, size) as position
          from audit_trail.signed_checkpoints) numbered
 where (c.organization, c.origin, c.size) = (numbered.organization, numbered.origin, numbered.size);

alter table audit_trail.signed_checkpoints alter column position set not null;
create unique index signed_checkpoints_position on audit_trail.signed_checkpoints (position);

-- Each transaction that inserts a checkpoint has the lock of audit_trail.unsigned_logs, so positions are committed in their
-- order. A sequence would continue at the wrong position after a restore.
create function audit_trail.number_checkpoint() returns trigger language plpgsql as $$
begin
  new.position := coalesce(new.position, (select max(position) from audit_trail.signed_checkpoints) + 1, 1);
  return new;
end $$;

create trigger number_checkpoint before insert on audit_trail.signed_checkpoints
  for each row execute function audit_trail.number_checkpoint();

-- The position up to which a topic of Kafka has all checkpoints.
create table audit_trail.sent_checkpoints (
  topic text primary key,
  position bigint not null
);
