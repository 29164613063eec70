import { describeController, describeDocument, describeNoAnswer } from '#json-api/description';
import { PlansController } from './plans.controller.js';

const PLANS = { name: 'Plans', description: 'The plans of runs.' };

export const plansOperations = describeController(PlansController, PLANS, {
  show: { operationId: 'getPlan', summary: 'Show a plan', answer: describeDocument('Plan') },
  showByRun: { operationId: 'getPlanOfRun', summary: 'Show the plan of a run', answer: describeDocument('Plan') },
  json: {
    operationId: 'readPlanJson',
    summary: 'Refuse to show the JSON output of a plan',
    description:
      'The server has no plan to show, because executors report only the numbers of changes: a plan can contain secrets. For clients that read the output if it exists.',
    answer: describeNoAnswer(),
    refusals: { 'not-found': 'Always: the server has no JSON output of plans.' },
  },
});
