import type { ApiResource } from '#packages/client';
import { readDocument } from './api-error.js';
import { api } from './client.js';
import { organizationKey } from './organizations.js';
import { pagedQuery } from './pages.js';

export type VariableSet = ApiResource<'VariableSet'>;

const variableSetsKey = (organization: string) => [...organizationKey(organization), 'variable-sets'] as const;

/** The variable sets that apply to a project, page by page. */
export const projectVariableSetsQuery = (organization: string, project: string) =>
  pagedQuery([...variableSetsKey(organization), 'project', project], (page, signal) => {
    const params = { path: { id: project }, query: page };
    return readDocument(api.GET('/api/v2/projects/{id}/varsets', { params, signal }));
  });
