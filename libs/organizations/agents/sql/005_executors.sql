-- What an executor says about itself when it registers: { version, capacity, phases }. Null for others.
alter table views.agents add column executor jsonb;
