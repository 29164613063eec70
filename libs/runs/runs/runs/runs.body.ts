import { z } from 'zod';
import { unprocessable } from '#platform/kernel';
import { ID, parseBody, resourceBody, omitNullish, text, toOneInput } from '#api/json-api';
import { MAX_RESULT_CHARACTERS, MAX_RESULTS, POLICY_RESULTS } from '../policy-evaluations/run-policies.js';
import { RUN_OPTIONS } from './run-options.js';
import { RUN_STATUSES } from './run-status.js';
import type { RunProgress } from './run.js';
import type { NewRun } from './runs.commands.js';

const flag = z.boolean().nullish();

/** Bytes of the keys and values of a run's variables: lists show up to 100 runs with theirs. */
const VARIABLES_BYTES = 100_000;

type RunVariableInputs = readonly { readonly key: string; readonly value: string }[];

const countBytes = (variables: RunVariableInputs): number =>
  // The event contains the keys as JSON.
  variables.reduce(
    (sum, { key, value }) => sum + Buffer.byteLength(JSON.stringify(key)) - 2 + Buffer.byteLength(value),
    0,
  );

export const createBody = resourceBody(
  'runs',
  z
    .object({
      message: text(10_000).nullish(),
      ...RUN_OPTIONS.body,
      'terraform-version': text(255).nullish(),
      variables: z
        .array(z.object({ key: text(255).min(1), value: text(100_000) }))
        .max(500, { error: 'too many, at most 500 of them' })
        .refine((variables) => countBytes(variables) <= VARIABLES_BYTES, {
          error: `Variables: too long, at most ${VARIABLES_BYTES} bytes in all keys and values together`,
        })
        .nullish(),
    })
    .default({}),
  z.object({ workspace: toOneInput, 'configuration-version': toOneInput }).optional(),
);

/** The messages of runs without one. */
const MESSAGES = {
  'tfe-api': 'Queued manually via the Terraform Enterprise API',
  'tfe-ui': 'Queued manually in the console',
} as const;

export const parseNewRun = (body: unknown, source: keyof typeof MESSAGES): NewRun => {
  const { attributes, relationships } = parseBody(createBody, body).data;
  const { message, variables, 'terraform-version': version } = attributes;
  const workspace = relationships?.workspace?.data?.id;
  if (!workspace) throw unprocessable("Workspace can't be blank", '/data/relationships/workspace');
  return {
    workspace,
    configurationVersion: relationships['configuration-version']?.data?.id || null,
    message: message || MESSAGES[source],
    source,
    variables: variables ?? [],
    // The workspace and the configuration decide the options that the request omits.
    options: { ...omitNullish(RUN_OPTIONS.read(attributes)), ...(version ? { terraformVersion: version } : {}) },
  };
};

const COMMENT = text(50_000);

export const actionBody = z.object({ comment: COMMENT.nullish() });

/** Parses the comment of an action: plain JSON, or no body. */
export const parseActionComment = (body: unknown): string | null => parseBody(actionBody, body).comment || null;

export const commentBody = resourceBody('comments', z.object({ body: COMMENT.min(1, { error: "can't be blank" }) }));

export const parseNewComment = (body: unknown): string => parseBody(commentBody, body).data.attributes.body;

const count = z.int().min(0).nullish();

export const progressBody = resourceBody(
  'run-progress',
  z.object({
    fence: z.int().min(1).nullish(),
    status: z.enum(RUN_STATUSES),
    'has-changes': flag,
    'generated-configuration': flag,
    'resource-additions': count,
    'resource-changes': count,
    'resource-destructions': count,
    'resource-imports': count,
    'resources-drifted': count,
    'resources-undrifted': count,
    'checks-passed': count,
    'checks-failed': count,
    'checks-errored': count,
    'checks-unknown': count,
    message: text(10_000).nullish(),
    'policy-results': z
      .array(
        z.object({
          policy: ID,
          'tool-version': text(255),
          status: z.enum(POLICY_RESULTS),
          message: text(MAX_RESULT_CHARACTERS).nullish(),
          printed: text(MAX_RESULT_CHARACTERS).nullish(),
        }),
      )
      .max(MAX_RESULTS, { error: `too many, at most ${MAX_RESULTS} of them` })
      .nullish(),
  }),
);

type ProgressAttributes = z.infer<typeof progressBody>['data']['attributes'];

/** Returns null if the executor has reported nothing about drift. */
const parseAssessed = (attributes: ProgressAttributes): RunProgress['assessed'] => {
  const drifted = attributes['resources-drifted'] ?? null;
  return drifted === null
    ? null
    : {
        resourcesDrifted: drifted,
        resourcesUndrifted: attributes['resources-undrifted'] ?? 0,
        checksPassed: attributes['checks-passed'] ?? 0,
        checksFailed: attributes['checks-failed'] ?? 0,
        checksErrored: attributes['checks-errored'] ?? 0,
        checksUnknown: attributes['checks-unknown'] ?? 0,
      };
};

/**
 * Parses a progress report. `has-changes` defaults to whether any count is above 0, because outputs can change without
 * a resource.
 */
export const parseProgress = (body: unknown): RunProgress => {
  const { attributes } = parseBody(progressBody, body).data;
  const resources = {
    additions: attributes['resource-additions'] ?? 0,
    changes: attributes['resource-changes'] ?? 0,
    destructions: attributes['resource-destructions'] ?? 0,
    imports: attributes['resource-imports'] ?? 0,
  };
  const touched = Object.values(resources).some((number) => number > 0);
  return {
    fence: attributes.fence ?? null,
    status: attributes.status,
    hasChanges: attributes['has-changes'] ?? touched,
    hasGeneratedConfiguration: attributes['generated-configuration'] ?? false,
    resources,
    assessed: parseAssessed(attributes),
    message: attributes.message || null,
    policyResults: (attributes['policy-results'] ?? []).map((result) => ({
      policy: result.policy,
      toolVersion: result['tool-version'],
      status: result.status,
      message: result.message ?? '',
      printed: result.printed ?? '',
    })),
  };
};
