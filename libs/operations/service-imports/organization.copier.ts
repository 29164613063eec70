import type { ImportContext } from './copies/resources.copier.js';
import { handOver } from './copies/handover.copier.js';
import { copyProjects } from './copies/projects.copier.js';
import { copyPeople, copyTeamAccess } from './copies/teams.copier.js';
import { copyVariableSets } from './copies/variables.copier.js';
import { copyWorkspaces } from './copies/workspaces.copier.js';
import { ImportSourceError } from './source/source-errors.js';

/**
 * Reads an organization of another server, and creates in an organization of this site what is missing there. Running it
 * again continues after an interruption, and changes nothing after the end.
 */
export const importFromService = async (context: ImportContext): Promise<void> => {
  const { source, organization } = context;
  if (!(await source.find(`/api/v2/organizations/${organization}`))) {
    throw new ImportSourceError(`the source shows no organization ${organization} to this token`);
  }
  if (context.mode === 'finish' || context.mode === 'undo') return handOver(context);
  await copyProjects(context);
  await copyPeople(context);
  await copyWorkspaces(context);
  for (const [sourceId, project] of context.projects) {
    await copyTeamAccess(context, { kind: 'project', sourceId, ...project });
  }
  await copyVariableSets(context);
};
