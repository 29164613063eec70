import {
  count,
  defineResource,
  describeController,
  describeDocument,
  describeEmpty,
  describeRedirect,
  exampleText,
  type OperationDescription,
  related,
  timestamp,
} from '#api/json-api/description';
import { z } from 'zod';
import { AssessmentResultsController } from './assessment-results.controller.js';

const errorMessage = (description: string) =>
  exampleText('Error: Invalid provider configuration', description)
    .nullable()
    .meta({ examples: [null] });

export const assessmentResultSchema = defineResource({
  name: 'AssessmentResult',
  type: 'assessment-results',
  description:
    'What a health assessment of a workspace has found: resources that have drifted from the state, and checks.',
  exampleId: 'asmtres-cHh5777xm8Vvt2nU',
  attributes: {
    'all-checks-succeeded': z.boolean().meta({ description: 'False if a check failed or could not be evaluated.' }),
    'checks-errored': count(),
    'checks-failed': count(),
    'checks-passed': count(),
    'checks-unknown': count(),
    'created-at': timestamp(),
    drifted: z.boolean().meta({ description: 'Whether resources differ from the state.' }),
    'drifted-since': timestamp(
      'An extension of Cadastre: when the first of the assessments without interruption found drift. Null without drift.',
    ).nullable(),
    'error-message': errorMessage('Why the assessment has failed; null if it succeeded.'),
    'error-msg': errorMessage('The same as `error-message`.'),
    'resources-drifted': count(),
    'resources-undrifted': count(),
    succeeded: z.boolean().meta({ description: 'Whether the resources could be compared.', examples: [true] }),
    'workspace-name': exampleText('network', 'An extension of Cadastre.'),
  },
  relationships: { run: related.always('runs'), workspace: related.always('workspaces') },
  hasSelfLink: true,
});

const document = {
  answer: describeRedirect('A signed link, which needs no token.'),
  otherAnswers: { 204: describeEmpty({ description: 'The plan has not ended.' }) },
  refusals: { 'not-found': 'A data retention policy has deleted it, or you may not see the result.' },
} satisfies Partial<OperationDescription>;

export const assessmentResultsOperations = describeController(
  AssessmentResultsController,
  {
    name: 'Health assessments',
    description: 'Whether the resources of workspaces are still as their states say.',
    resource: assessmentResultSchema,
  },
  {
    assess: {
      operationId: 'assessWorkspace',
      summary: 'Assess a workspace now',
      description:
        'An extension of Cadastre. Starts a health assessment without waiting for its time in the schedule. Returns its run. Needs admin access to the workspace.',
      answer: describeDocument('Run'),
      refusals: {
        conflict:
          'Assessments are off; the workspace is being assessed, is locked, has a run that has not ended, or cannot be assessed: the message says why.',
      },
    },
    listOfOrganization: {
      operationId: 'listAssessmentResults',
      summary: 'List the newest assessment results of an organization',
      description:
        'An extension of Cadastre. The newest result of each workspace whose runs you may read: first those of workspaces that have drifted for the longest time.',
    },
    current: {
      operationId: 'readCurrentAssessmentResult',
      summary: 'Show the newest assessment result of a workspace',
      refusals: { 'not-found': 'The workspace has no result, or you may not see its runs.' },
    },
    show: {},
    output: {
      ...document,
      operationId: 'readAssessmentJson',
      summary: 'Get a link to the JSON output of an assessment',
      description: 'The plan, which can contain secrets. Needs admin access to the workspace.',
      events: ['PlanOutputDownloaded'],
    },
    schemas: {
      ...document,
      operationId: 'readAssessmentSchemas',
      summary: 'Get a link to the schemas of the providers of an assessment',
      description: 'Needs admin access to the workspace.',
    },
    log: {
      answer: document.answer,
      operationId: 'readAssessmentLog',
      summary: 'Get a link to the log of an assessment',
      description: 'Needs admin access to the workspace.',
    },
  },
);
