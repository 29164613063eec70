import { z } from 'zod';
import {
  describeController,
  describeFile,
  describeFileBody,
  describeJson,
  INVALID_LINK,
  type OperationDescription,
  signedLinkParameter,
} from '#api/json-api/description';
import { fenceParameter, RUNS } from '../runs/runs.openapi.js';
import {
  DEFAULT_READ_BYTES,
  DEFAULT_WAIT_SECONDS,
  MAX_READ_BYTES,
  MAX_WAIT_SECONDS,
  RunLogsController,
} from './run-logs.controller.js';

const appendedLog = z.strictObject({
  offset: z.int().meta({ description: 'The offset of the next append.' }),
  truncated: z.boolean().meta({ description: 'Whether the log has reached its limit. Further output is dropped.' }),
});

const append = {
  description:
    'For executors, with the token of an agent pool, while the phase is running. The same output can be sent again. A refusal names the expected offset in `meta.offset`.',
  query: {
    offset: z.int().min(0).meta({ description: 'The number of bytes that the executor has sent before.' }),
    fence: fenceParameter,
  },
  body: describeFileBody('Output of at most 1 MiB.'),
  answer: describeJson(appendedLog, {
    description: 'The end of the log.',
    example: { offset: 4096, truncated: false },
  }),
  refusals: {
    conflict:
      'Output before the offset is missing, the log has other output at the offset, the phase is not running, or the fence is not that of the newest claim.',
  },
} satisfies Partial<OperationDescription>;

export const runLogsOperations = describeController(RunLogsController, RUNS, {
  appendToPlan: { ...append, operationId: 'appendToPlanLog', summary: 'Append output to the log of a plan' },
  appendToApply: { ...append, operationId: 'appendToApplyLog', summary: 'Append output to the log of an apply' },
  read: {
    operationId: 'readLog',
    summary: 'Read the log of a plan or an apply',
    description:
      'The signed link replaces the token, and no rate limit applies. The first byte of a log is STX (0x02); when the phase has ended, the last one is ETX (0x03). The response can have fewer bytes than requested, and none after the end. If the log has no new output and can grow, the server waits for output before it responds.',
    path: signedLinkParameter('`log-read-url` of a plan or an apply', 'a day'),
    query: {
      offset: z.int().min(0).default(0).meta({ description: 'The first byte.' }),
      limit: z.int().min(1).max(MAX_READ_BYTES).default(DEFAULT_READ_BYTES).meta({ description: 'The most bytes.' }),
      'wait-seconds': z
        .int()
        .min(0)
        .max(MAX_WAIT_SECONDS)
        .default(DEFAULT_WAIT_SECONDS)
        .meta({ description: 'How long to wait for output.' }),
    },
    answer: describeFile('text/plain', { description: 'Bytes of the log.' }),
    refusals: {
      forbidden: INVALID_LINK,
      'not-found': 'The run was deleted, or a data retention policy has deleted its data.',
    },
  },
});
