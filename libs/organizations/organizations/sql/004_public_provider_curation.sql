-- Organizations from before the setting, as the upcast of their events has it (libs/organizations/organizations.events.ts).
update views.organizations set settings = settings || '{"publicProviderCurationEnabled": true}';
