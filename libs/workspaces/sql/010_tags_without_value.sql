-- A binding without a value is a flat tag (clients.md §8): null stands for both, as the projection writes it.
update views.workspace_tags set value = null where value = '';
