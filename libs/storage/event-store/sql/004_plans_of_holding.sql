-- For arrays of one or two Postgres would rather plan anew each time, which took half of what the call costs a write.
alter function event_store.hold_people(text[], text[], text[]) set plan_cache_mode = force_generic_plan;
