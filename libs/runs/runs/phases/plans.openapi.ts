import { describeController, describeDocument, describeNoAnswer } from '#api/json-api/description';
import { PlansController } from './plans.controller.js';

const PLANS = { name: 'Plans', description: 'The plans of runs.' };

export const plansOperations = describeController(PlansController, PLANS, {
  show: { operationId: 'getPlan', summary: 'Show a plan', answer: describeDocument('Plan') },
  showByRun: { operationId: 'getPlanOfRun', summary: 'Show the plan of a run', answer: describeDocument('Plan') },
  json: {
    operationId: 'readPlanJson',
    summary: 'Read the JSON output of a plan, which the server does not have',
    description:
      'The answer is always 404: executors report only the numbers of changes, because a plan can contain secrets.',
    answer: describeNoAnswer(),
    refusals: { 'not-found': 'The JSON output of this plan is not available.' },
  },
});
