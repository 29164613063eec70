import { z } from 'zod';
import { defineResource, describeController, describePage, exampleText } from '#api/json-api/description';
import { STATE_VERSIONS } from '../state-versions/state-versions.openapi.js';
import { StateVersionOutputsController } from './state-version-outputs.controller.js';

const outputType = z.enum(['string', 'number', 'bool', 'array', 'object', 'dynamic']);

const value = (description: string) => z.unknown().meta({ description, examples: ['10.0.0.0/16'] });

/** Present only if the value does not fit into a document that includes outputs. */
const valueOmitted = z.literal(true).optional().meta({
  description:
    'Present if the values that a document includes exceed 8 MiB, and this one is left out. Read it at `/api/v2/state-version-outputs/` with the id of the output.',
});

export const stateVersionOutputSchema = defineResource({
  name: 'StateVersionOutput',
  type: 'state-version-outputs',
  description: 'An output value of a state version.',
  noun: 'output',
  exampleId: 'wsout-1sZm6KpCt9WdNf3H',
  attributes: {
    'detailed-type': z
      .union([z.string(), z.array(z.unknown())])
      .nullable()
      .meta({
        description:
          'The type as the state has it: a word, or a list such as `["list", "string"]`. Null if the types of the state are too long.',
        examples: ['string'],
      }),
    name: exampleText('cidr'),
    sensitive: z.boolean(),
    type: outputType,
    value: value('Any JSON. Lists of the current outputs have null for a sensitive output.').optional(),
    'value-omitted': valueOmitted,
  },
  hasSelfLink: true,
});

export const workspaceOutputSchema = defineResource({
  name: 'WorkspaceOutput',
  type: 'workspace-outputs',
  description: 'An output of the current state of a workspace, as documents of workspaces include it.',
  exampleId: 'wsout-1sZm6KpCt9WdNf3H',
  attributes: {
    name: exampleText('cidr'),
    'output-type': outputType,
    sensitive: z.boolean(),
    value: value('Any JSON; null if the output is sensitive.').optional(),
    'value-omitted': valueOmitted,
  },
});

export const stateVersionOutputsOperations = describeController(
  StateVersionOutputsController,
  { ...STATE_VERSIONS, resource: stateVersionOutputSchema },
  {
    list: {
      description:
        'The list has the values of sensitive outputs. A page with long values has fewer outputs than requested.',
    },
    listCurrent: {
      operationId: 'listCurrentStateVersionOutputs',
      summary: 'List the outputs of the current state of a workspace',
      description:
        'All outputs are on one page. The values of sensitive outputs are null; `getStateVersionOutput` shows them.',
      answer: describePage('StateVersionOutput'),
    },
    show: { description: 'The document has the value even if the output is sensitive.' },
  },
);
