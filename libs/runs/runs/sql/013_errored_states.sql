-- When the executor of the apply has stored a state that the workspace did not accept.
alter table views.runs add column errored_state_at timestamptz;
