import { z } from 'zod';
import { describeController, describeFile, describeJson } from '#api/json-api/description';
import { SERVER } from './discovery.openapi.js';
import { HealthController } from './health.controller.js';

const answer = describeJson(z.strictObject({ status: z.literal('ok') }), {
  mediaType: 'application/json',
  description: 'Yes.',
});

export const healthOperations = describeController(HealthController, SERVER, {
  live: { operationId: 'checkLiveness', summary: 'Check whether the process runs', answer },
  ready: {
    operationId: 'checkReadiness',
    summary: 'Check whether the process can serve requests',
    answer,
    refusals: { unavailable: 'The database is not available, or the process is about to stop.' },
  },
  metrics: {
    operationId: 'getMetrics',
    summary: 'Show metrics of the process',
    answer: describeFile('text/plain', { description: 'The metrics in the text format of Prometheus.' }),
  },
});
