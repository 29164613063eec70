-- The number of the archive that runs get (libs/runs/configuration-versions/configuration-version.files.ts); 0 until there is one.
alter table views.configuration_versions add column archive integer not null default 0;
update views.configuration_versions set archive = 1 where reached ? 'uploaded';
