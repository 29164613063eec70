import { continueAfter, type ImportContext } from './copies/resources.copier.js';
import { handOver } from './copies/handover.copier.js';
import { copyProjects } from './copies/projects.copier.js';
import { copyPeople, copyTeamAccess } from './copies/teams.copier.js';
import { copyVariableSets } from './copies/variables.copier.js';
import { copyWorkspaces } from './copies/workspaces.copier.js';

/**
 * Reads an organization of another server, and creates in an organization of this site what is missing there. Running it
 * again continues after an interruption, and changes nothing after the end.
 */
export const importFromService = async (context: ImportContext): Promise<void> => {
  try {
    await copyOrganization(context);
  } finally {
    const { malformed } = context.source;
    if (malformed > 0)
      context.report.add('resources', `${malformed}`, 'failed', 'the source sent them without a valid id or form');
  }
};

const copyOrganization = async (context: ImportContext): Promise<void> => {
  if (context.mode === 'finish' || context.mode === 'undo') return handOver(context);
  await copyProjects(context);
  await copyPeople(context);
  await copyWorkspaces(context);
  for (const [sourceId, project] of context.projects) {
    await continueAfter(context, { kind: 'team access', name: project.name }, () =>
      copyTeamAccess(context, { kind: 'project', sourceId, ...project }),
    );
  }
  await copyVariableSets(context);
};
