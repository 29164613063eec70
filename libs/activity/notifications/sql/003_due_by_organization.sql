-- Due deliveries are taken organization by organization, and host by host in each.
drop index notifications.deliveries_due;
create index deliveries_due on notifications.deliveries (organization, host, next_attempt_at) where status = 'pending';
