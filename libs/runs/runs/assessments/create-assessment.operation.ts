import type { EventContext, Principal } from '#platform/kernel';
import type { EventStore } from '#storage/event-store';
import type { ToolReleases } from '#workspaces/workspaces';
import { ASSESSMENT } from '../runs/run-event.js';
import { createServerRun } from '../runs/server-runs.operation.js';
import { LACKS_REFRESH_ONLY } from './due-assessments.queries.js';

type NewAssessment = { readonly id: string; readonly workspace: string; readonly createdBy: Principal };

/**
 * Creates the run of an assessment: a plan that only refreshes. Resolves to false if the workspace is busy, or cannot be assessed, or
 * if the run exists.
 */
export const createAssessment = (
  store: EventStore,
  releases: ToolReleases,
  assessment: NewAssessment,
  context: EventContext,
): Promise<boolean> =>
  createServerRun(
    store,
    releases,
    {
      ...assessment,
      message: 'Health assessment',
      source: ASSESSMENT,
      decideOptions: ({ isBusy, terraformVersion }) =>
        isBusy || new RegExp(LACKS_REFRESH_ONLY).test(terraformVersion) ? null : { planOnly: true, refreshOnly: true },
    },
    context,
  );
