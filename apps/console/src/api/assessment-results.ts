import type { ApiResource } from '#packages/client';
import { readData, readDocument } from './api-error.js';
import { api } from './client.js';
import { organizationKey } from './organizations.js';
import { pagedQuery } from './pages.js';
import { useChange } from './use-change.js';

export type AssessmentResult = ApiResource<'AssessmentResult'>;

/** The newest result of each workspace, the longest drift first. */
export const assessmentResultsQuery = (organization: string) =>
  pagedQuery([...organizationKey(organization), 'assessment-results'], (query, signal) => {
    const params = { path: { organization }, query };
    return readDocument(api.GET('/api/v2/organizations/{organization}/assessment-results', { params, signal }));
  });

/** Starts an assessment of a workspace. Its data is the run. */
export const useAssess = (organization: string, workspace: string) =>
  useChange({
    mutationFn: () =>
      readData(api.POST('/api/v2/workspaces/{id}/actions/assess', { params: { path: { id: workspace } } })),
    rereads: [...organizationKey(organization), 'runs'],
  });
