-- A job reads the workspaces of the site little by little, in an order that has nothing to do with their organizations.
create index workspaces_by_hash on views.workspaces ((hashtext(id) & 2147483647), id);
