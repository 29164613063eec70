create trigger refuse_retired_key before insert or update of sealed on vault.secrets
  for each row when (event_store.has_retired_key(new.sealed)) execute function event_store.refuse_retired_key();
