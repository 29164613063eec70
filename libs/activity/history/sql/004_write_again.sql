-- The history has reserved tag keys and all attributes of organizations now, and a configuration version is the current one
-- from its creation. This changes which versions its subjects have had, so the follower writes the history again from the
-- start of the log. Reads wait for it. The checkpoint is moved, not deleted: a projector of the earlier version that still
-- runs then fails instead of skipping.
truncate views.history_versions, views.history_runs, views.history_locks;
update event_store.checkpoints set transaction = '0', position = 0 where follower = 'workspace_history';
