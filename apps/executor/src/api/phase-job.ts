import { z } from 'zod';

const nullableUrl = z
  .string()
  .nullish()
  .transform((url) => url ?? null);
const addresses = z
  .array(z.string())
  .nullish()
  .transform((list) => list ?? []);
const flag = z
  .boolean()
  .nullish()
  .transform((value) => value ?? false);

const archives = z.array(z.object({ url: z.string(), sha: z.string(), os: z.string(), arch: z.string() }));

const terraformVariable = z.object({ key: z.string(), value: z.string(), hcl: z.boolean(), sensitive: z.boolean() });
const environmentVariable = z.object({ key: z.string(), value: z.string(), sensitive: z.boolean() });

export type JobVariable = z.output<typeof terraformVariable>;

/** Everything that a phase needs. */
export const phaseJob = z.object({
  phase: z.enum(['plan', 'apply']),
  'terraform-version': z.string(),
  // Servers of the previous release send none.
  'iac-tool': z.enum(['terraform', 'tofu']).default('terraform'),
  'terraform-version-archives': archives.default([]),
  'terraform-version-warning': z.string().nullish(),
  'working-directory': z.string().nullable(),
  'is-destroy': flag,
  refresh: z
    .boolean()
    .nullish()
    .transform((value) => value ?? true),
  'refresh-only': flag,
  'target-addrs': addresses,
  'replace-addrs': addresses,
  'invoke-action-addrs': addresses,
  'allow-config-generation': flag,
  'structured-run-output-enabled': flag,
  variables: z.array(terraformVariable),
  environment: z.array(environmentVariable),
  'ssh-key': z.string().nullable(),
  'run-token': z.string(),
  'configuration-download-url': nullableUrl,
  'state-download-url': nullableUrl,
  'plan-file-url': nullableUrl,
  // Servers of the previous release send none.
  'public-url': nullableUrl,
  // Servers of the previous release send none.
  policies: z
    .array(
      z.object({
        id: z.string(),
        name: z.string(),
        query: z.string(),
        // A part of a file name.
        'text-sha256': z
          .string()
          .regex(/^[0-9a-f]{64}$/)
          .nullable(),
        'opa-version': z.string(),
      }),
    )
    .default([]),
  'opa-versions': z.array(z.object({ version: z.string(), archives, 'is-site-release': flag })).default([]),
  'policy-texts': z.record(z.string(), z.string()).default({}),
  'policy-input': z.record(z.string(), z.unknown()).nullish(),
  'organization-name': z.string(),
  // A part of paths.
  'workspace-name': z.string().regex(/^[\w-]+$/),
  'workspace-id': z.string(),
  'time-limit-seconds': z.number().positive(),
  'snapshot-interval-seconds': z.number().positive(),
});

export type JobPolicy = z.output<typeof phaseJob>['policies'][number];

export type PhaseJob = z.output<typeof phaseJob>;
