import { linkTo, toMany, toOne, type Resource } from '#api/json-api';
import type { AgentPoolRow } from './agent-pools.queries.js';

export const renderAgentPool = (row: AgentPoolRow): Resource => {
  const self = `/api/v2/agent-pools/${row.id}`;
  return {
    id: row.id,
    type: 'agent-pools',
    attributes: {
      name: row.name,
      'organization-scoped': row.organizationScoped,
      'remote-runs-enabled': row.remoteRunsEnabled,
      'created-at': row.createdAt,
      'agent-count': row.agentCount,
    },
    relationships: {
      organization: toOne('organizations', row.organizationName, `/api/v2/organizations/${row.organizationName ?? ''}`),
      agents: linkTo(`${self}/agents`),
      'authentication-tokens': linkTo(`${self}/authentication-tokens`),
      workspaces: toMany('workspaces', row.workspaces),
      'allowed-workspaces': toMany('workspaces', row.allowedWorkspaces),
      'allowed-projects': toMany('projects', row.allowedProjects),
      'excluded-workspaces': toMany('workspaces', row.excludedWorkspaces),
    },
    links: { self },
  };
};
