import { toAttributes, toOne, type Resource } from '#api/json-api';
import { expandAccess } from './team-access.js';
import type { AccessTargetKind, TeamProjectRow, TeamWorkspaceRow } from './team-access.view.js';
import { PROJECT_ACCESS_SCALE } from './team-project.js';
import { WORKSPACE_ACCESS_SCALE } from './team-workspace.js';

/** `permissions`: what the level or the custom access permits, under the names of the API. */
const renderTeamAccess = (
  { id, access, team, target }: TeamProjectRow | TeamWorkspaceRow,
  kind: AccessTargetKind,
  permissions: Record<string, unknown>,
): Resource => ({
  id,
  type: `team-${kind}s`,
  attributes: { access, ...permissions },
  relationships: {
    team: toOne('teams', team, `/api/v2/teams/${team}`),
    [kind]: toOne(`${kind}s`, target, `/api/v2/${kind}s/${target}`),
  },
  links: { self: `/api/v2/team-${kind}s/${id}` },
});

export const renderTeamWorkspace = (row: TeamWorkspaceRow): Resource =>
  renderTeamAccess(row, 'workspace', toAttributes(expandAccess(row, WORKSPACE_ACCESS_SCALE)));

export const renderTeamProject = (row: TeamProjectRow): Resource => {
  const { project, ...inEach } = expandAccess(row, PROJECT_ACCESS_SCALE);
  return renderTeamAccess(row, 'project', {
    'project-access': toAttributes(project),
    'workspace-access': toAttributes(inEach),
  });
};
