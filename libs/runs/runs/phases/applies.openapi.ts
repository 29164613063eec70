import { describeController, describeDocument } from '#api/json-api/description';
import { AppliesController } from './applies.controller.js';

const APPLIES = { name: 'Applies', description: 'The applies of runs.' };

export const appliesOperations = describeController(AppliesController, APPLIES, {
  show: { operationId: 'getApply', summary: 'Show an apply', answer: describeDocument('Apply') },
  showByRun: { operationId: 'getApplyOfRun', summary: 'Show the apply of a run', answer: describeDocument('Apply') },
});
