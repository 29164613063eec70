import type { DataOf, Ids } from '#platform/kernel';
import { decideWrite, newStream, type StreamWrite } from '#storage/event-store';
import { prepareOwnersTeam } from '#identity/people';
import { DEFAULT_PROJECT, project } from '../projects/project.js';
import { organization, type OrganizationCommand } from './organization.js';

type NewOrganization = {
  readonly id: string;
  readonly defaultProject: string;
  readonly writes: readonly StreamWrite[];
};

/**
 * Returns the writes that create an organization with its default project and its owners team, whose first member is
 * the founder.
 */
export const prepareOrganization = (
  ids: Ids,
  founder: { readonly user: string; readonly username: string },
  data: Omit<DataOf<OrganizationCommand, 'CreateOrganization'>, 'defaultProject' | 'ownersTeam'>,
): NewOrganization => {
  const id = ids.next('org');
  const defaultProject = ids.next('prj');
  const owners = prepareOwnersTeam(ids, id, founder);
  const writes = [
    decideWrite(organization, newStream(id, organization), id, {
      type: 'CreateOrganization',
      data: { ...data, defaultProject, ownersTeam: owners.team },
    }),
    decideWrite(project, newStream(defaultProject, project), id, {
      type: 'CreateProject',
      data: { name: DEFAULT_PROJECT },
    }),
    ...owners.writes,
  ];
  return { id, defaultProject, writes };
};
