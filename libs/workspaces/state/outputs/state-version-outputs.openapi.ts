import { describeController, describeDocument, describePage, pageParameters } from '#api/json-api/description';
import { STATE_VERSIONS } from '../state-versions/state-versions.openapi.js';
import { StateVersionOutputsController } from './state-version-outputs.controller.js';

export const stateVersionOutputsOperations = describeController(StateVersionOutputsController, STATE_VERSIONS, {
  list: {
    operationId: 'listStateVersionOutputs',
    summary: 'List the outputs of a state version',
    description:
      'The list has the values of sensitive outputs. A page with long values has fewer outputs than requested.',
    query: pageParameters(),
    answer: describePage('StateVersionOutput'),
  },
  listCurrent: {
    operationId: 'listCurrentStateVersionOutputs',
    summary: 'List the outputs of the current state of a workspace',
    description:
      'All outputs are on one page. The values of sensitive outputs are null; `getStateVersionOutput` shows them.',
    answer: describePage('StateVersionOutput'),
  },
  show: {
    operationId: 'getStateVersionOutput',
    summary: 'Show an output',
    description: 'The document has the value even if the output is sensitive.',
    answer: describeDocument('StateVersionOutput'),
  },
});
