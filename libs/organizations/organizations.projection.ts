import { sql, type Projection } from '#kernel';
import type { OrganizationEvent } from './organization.js';
import type { ProjectEvent } from './project.js';

/** Changed settings are merged; name and email have columns of their own. */
export const organizations: Projection<OrganizationEvent> = {
  name: 'organizations',
  tables: ['organizations'],
  on: {
    OrganizationCreated: (born, { stream, time }) => sql`
      insert into organizations (id, name, email, feature_set, default_project, owners_team, settings, created_at)
      values (${stream}, ${born.name}, ${born.email}, ${born.featureSet}, ${born.defaultProject}, ${born.ownersTeam},
              ${sql.json(born.settings)}, ${time})`,
    OrganizationUpdated: ({ changes: { name, email, ...settings } }, { stream }) => sql`
      update organizations
         set name = coalesce(${name ?? null}, name), email = coalesce(${email ?? null}, email),
             settings = settings || ${sql.json(settings)}::jsonb
       where id = ${stream}`,
    OrganizationFeatureSetChanged: ({ featureSet }, { stream }) =>
      sql`update organizations set feature_set = ${featureSet} where id = ${stream}`,
    OrganizationDeleted: (_, { stream }) => sql`delete from organizations where id = ${stream}`,
  },
};

export const projects: Projection<ProjectEvent | Extract<OrganizationEvent, { type: 'OrganizationDeleted' }>> = {
  name: 'projects',
  tables: ['projects'],
  on: {
    ProjectCreated: ({ name, description, settings }, { stream, organization, time }) => sql`
      insert into projects (id, organization, name, description, settings, created_at)
      values (${stream}, ${organization}, ${name}, ${description}, ${sql.json(settings)}, ${time})`,
    ProjectUpdated: ({ changes: { name, description, ...settings } }, { stream }) => sql`
      update projects
         set name = coalesce(${name ?? null}, name),
             description = case when ${description !== undefined} then ${description ?? null} else description end,
             settings = settings || ${sql.json(settings)}::jsonb
       where id = ${stream}`,
    // What workspaces inherit has a table of its own (libs/tags).
    ProjectTagBound: null,
    ProjectTagUnbound: null,
    ProjectDeleted: (_, { stream }) => sql`delete from projects where id = ${stream}`,
    OrganizationDeleted: (_, { stream }) => sql`delete from projects where organization = ${stream}`,
  },
};
