-- How many refused sign-ins the log has of a minute, by reason, because strangers control their number
-- (libs/sign-in/refusals/refused-sign-ins.queries.ts).
create table sign_in.refusals (
  reason text primary key,
  minute timestamptz not null,
  -- Refusals in this minute.
  refused integer not null,
  -- Refusals without an event since the last event.
  omitted integer not null,
  -- What `omitted` was before the last event, which contains it.
  reported integer not null
);
