import {
  describeController,
  describeEmpty,
  describeFile,
  describeFileBody,
  INVALID_LINK,
  signedLinkParameter,
} from '#api/json-api/description';
import { PLANS } from '../phases/phases.openapi.js';
import { fenceParameter } from '../runs/runs.openapi.js';
import { PlanFilesController } from './plan-files.controller.js';

export const planFilesOperations = describeController(PlanFilesController, PLANS, {
  upload: {
    operationId: 'uploadPlanFile',
    summary: 'Upload the archive that the apply of a run needs',
    description:
      'For executors, with the token of the pool, while the run is `planning`. The server does not read the archive. It stores it encrypted, and deletes it when the run ends.',
    query: { fence: fenceParameter.unwrap() },
    body: describeFileBody(
      'An archive of the folder of the run, with the plan, of at most `CADASTRE_PLAN_FILE_MAX_MIB` (256 MiB).',
    ),
    answer: describeEmpty(),
    refusals: {
      conflict: 'The run is not `planning`, another file was uploaded, or the fence is not that of the newest claim.',
    },
  },
  content: {
    operationId: 'downloadPlanFile',
    summary: 'Download the archive that the apply of a run needs',
    description: 'The signed link replaces the token. It is valid while the executor that got it applies the run.',
    path: signedLinkParameter('`plan-file-url` of a job', '15 minutes'),
    answer: describeFile('application/octet-stream', { description: 'The archive.' }),
    refusals: {
      forbidden: INVALID_LINK,
      'not-found': 'The executor of the plan has uploaded none, or the executor with the link does not apply the run.',
    },
  },
});
