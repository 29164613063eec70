import { z } from 'zod';
import {
  describeController,
  describeEmpty,
  describeJson,
  describeRedirect,
  INVALID_LINK,
  type OperationDescription,
  signedLinkParameter,
} from '#api/json-api/description';
import { PLANS } from '../phases/phases.openapi.js';
import { fenceParameter } from '../runs/runs.openapi.js';
import { PlanDocumentsController } from './plan-documents.controller.js';

const upload = {
  query: { fence: fenceParameter },
  answer: describeEmpty(),
  refusals: {
    conflict:
      'The run is not `planning`, another document was uploaded, `json-schema` is missing, or the fence is not that of the newest claim.',
    unprocessable: 'The body is not a document that terraform writes, or the documents do not fit together.',
  },
} satisfies Partial<OperationDescription>;

const describeBody = (description: string, example: object) => ({
  schema: z.looseObject({}).meta({ description }),
  mediaType: 'application/json',
  example,
});

const read = {
  description: 'The signed link in the answer is valid for a minute and needs no token.',
  answer: describeRedirect('A signed link to the document.'),
  otherAnswers: { 204: describeEmpty({ description: 'The plan has not ended.' }) },
  refusals: {
    'not-found':
      'The executor has not uploaded the document, a data retention policy has deleted it, or you may not see the run.',
  },
} satisfies Partial<OperationDescription>;

export const planDocumentsOperations = describeController(PlanDocumentsController, PLANS, {
  uploadSchemas: {
    ...upload,
    operationId: 'uploadPlanSchemas',
    summary: 'Upload the schemas of the providers of a plan',
    description:
      'For executors, with the token of an agent pool, while the run is `planning`. The body is JSON or gzip of JSON.',
    body: describeBody('The output of `terraform providers schema -json`, of at most 24 MiB, or 64 MiB unpacked.', {
      format_version: '1.0',
      provider_schemas: {},
    }),
  },
  uploadPlan: {
    ...upload,
    operationId: 'uploadPlanJson',
    summary: 'Upload the JSON output of a plan',
    description:
      'For executors, with the token of an agent pool, while the run is `planning` and after `json-schema`. The server makes the redacted plan of both. The body is JSON or gzip of JSON.',
    body: describeBody('The output of `terraform show -json` of the plan, of at most 24 MiB, or 64 MiB unpacked.', {
      format_version: '1.2',
      resource_changes: [],
    }),
  },
  output: { ...read, operationId: 'readPlanJson', summary: 'Get a link to the JSON output of a plan' },
  outputOfRun: {
    ...read,
    operationId: 'readPlanJsonOfRun',
    summary: 'Get a link to the JSON output of the plan of a run',
  },
  redacted: { ...read, operationId: 'readRedactedPlan', summary: 'Get a link to the redacted plan' },
  redactedOfRun: { ...read, operationId: 'readRedactedPlanOfRun', summary: 'Get a link to the redacted plan of a run' },
  schemas: { ...read, operationId: 'readPlanSchemas', summary: 'Get a link to the schemas of the providers of a plan' },
  schemasOfRun: {
    ...read,
    operationId: 'readPlanSchemasOfRun',
    summary: 'Get a link to the schemas of the providers of the plan of a run',
  },
  content: {
    operationId: 'downloadPlanDocument',
    summary: 'Download a document of a plan',
    description:
      'The signed link replaces the token. For the JSON output, the audit trail names the caller who got the link.',
    path: signedLinkParameter('the redirect of a document', 'a minute'),
    answer: describeJson(z.looseObject({}), {
      mediaType: 'application/json',
      description: 'The document.',
      example: { plan_format_version: '1.2', provider_format_version: '1.0' },
    }),
    refusals: {
      forbidden: INVALID_LINK,
      'not-found': 'The run was deleted, or a data retention policy has deleted its data.',
    },
    events: ['PlanOutputDownloaded'],
  },
});
