import { sql } from '#platform/kernel';
import { createSystemContext } from '#api/access';
import { decideWrite, newStream, type EventStore } from '#storage/event-store';
import { createServerRun, deriveId } from '#runs/runs';
import { ToolReleases } from '#workspaces/workspaces';
import { assessment } from '../../libs/runs/runs/assessments/assessment.js';
import type { RunRequests, RunSite } from './runs.js';
import { expectStatus, makeRun } from './seeds.js';
import type { TestServer } from './server.js';
import { newStateVersion, stateFile } from './state-file.js';

type AssessedWorkspace = { readonly organization: string; readonly workspace: string };

/** Returns the id of the result that `recordAssessment` records. */
export const toAssessmentId = (workspace: string): string => deriveId('asmtres', workspace);

/** Creates the assessment `run` of the workspace, as the job does when it is due. */
export const startAssessment = async (store: EventStore, workspace: string, run: string): Promise<void> => {
  const context = createSystemContext('health assessments', workspace);
  const created = await createServerRun(
    store,
    new ToolReleases(),
    {
      id: run,
      workspace,
      message: 'Health assessment',
      source: 'assessment',
      createdBy: context.accessor,
      decideOptions: () => ({ planOnly: true, refreshOnly: true }),
    },
    context,
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

/** Says that the view of results is complete (1), as a projector does, or not yet (0), as during an upgrade. */
export const setViewVersion = async ({ database }: TestServer, version: 0 | 1): Promise<void> =>
  void (await database.rows(sql`
    insert into event_store.view_versions (view, version) values ('assessment_results', ${version})
    on conflict (view) do update set version = excluded.version`));

const ENABLED = { 'assessments-enabled': true };

/** Returns the requests that specs about assessments use, beside those of runs at the same site. */
export const assessmentRequests = (site: () => RunSite, { aWorkspace, reported }: RunRequests) => {
  let serials = 0;
  const storeResources = async (id: string, resources: 0 | 1): Promise<void> => {
    const { server } = site();
    const file = stateFile({ serial: (serials += 1), lineage: `of ${id}`, names: resources === 1 ? ['it'] : [] });
    const lock = (action: string) => server.post(`/api/v2/workspaces/${id}/actions/${action}`);
    expectStatus(await lock('lock'), 200);
    const path = `/api/v2/workspaces/${id}/state-versions`;
    expectStatus(await server.post(path, newStateVersion(file, { inline: true })), 201);
    expectStatus(await lock('unlock'), 200);
  };
  return {
    /** Stores a state with a resource, or without one. */
    storeResources,
    /** Creates a workspace with a resource and an applied run. Its assessments are enabled unless the attributes differ. */
    anAppliedWorkspace: async (attributes: object = ENABLED): Promise<string> => {
      const id = await aWorkspace(attributes);
      await storeResources(id, 1);
      const run = await makeRun(site().server, id, { 'auto-apply': true });
      await reported(run, 'planning', 'planned', 'applying', 'applied');
      return id;
    },
    assessmentsOf: async (workspace: string): Promise<any[]> => {
      const path = `/api/v2/workspaces/${workspace}/runs?filter[source]=assessment`;
      return expectStatus(await site().server.get(path), 200).body.data;
    },
  };
};
