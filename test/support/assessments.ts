import { createSystemContext } from '#api/access';
import { decideWrite, newStream, type EventStore } from '#storage/event-store';
import { createServerRun, deriveId } from '#runs/runs';
import { ToolReleases } from '#workspaces/workspaces';
import { assessment } from '../../libs/runs/runs/assessments/assessment.js';
import type { TestServer } from './server.js';

type AssessedWorkspace = { readonly organization: string; readonly workspace: string };

/** Returns the id of the result that `recordAssessment` records. */
export const toAssessmentId = (workspace: string): string => deriveId('asmtres', workspace);

/** Creates the assessment `run` of the workspace, as the job does when it is due. */
export const startAssessment = async (store: EventStore, workspace: string, run: string): Promise<void> => {
  const created = await createServerRun(
    store,
    new ToolReleases(),
    {
      id: run,
      workspace,
      message: 'Health assessment',
      source: 'assessment',
      createdBy: 'health assessments',
      decideOptions: () => ({ planOnly: true, refreshOnly: true }),
    },
    createSystemContext('health assessments', workspace),
  );
  if (!created) throw new Error(`${workspace} can have no assessment`);
};

/** Records that resources of the workspace have drifted. Nobody executes the run. Resolves to the id of the result. */
export const recordAssessment = async (
  { store }: TestServer,
  { organization, workspace }: AssessedWorkspace,
): Promise<string> => {
  const context = createSystemContext('test', workspace);
  const id = toAssessmentId(workspace);
  const run = id.replace('asmtres-', 'run-');
  await startAssessment(store, workspace, run);
  const counts = {
    resourcesDrifted: 1,
    resourcesUndrifted: 2,
    checksPassed: 0,
    checksFailed: 0,
    checksErrored: 0,
    checksUnknown: 0,
  };
  const at = new Date().toISOString();
  const data = { workspace, run, at, isPlanned: true, assessed: counts, errorMessage: null, prior: null };
  const write = decideWrite(assessment, newStream(id, assessment), organization, { type: 'RecordAssessment', data });
  await store.append([write], context);
  return id;
};
