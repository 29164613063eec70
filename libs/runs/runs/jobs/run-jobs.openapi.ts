import { z } from 'zod';
import { defineResource, describeController, describeResourceBody, exampleText } from '#api/json-api/description';
import { RUNS } from '../runs/runs.openapi.js';
import { jobBody, RunJobsController } from './run-jobs.controller.js';

const addresses = (description: string) => z.array(z.string()).meta({ description, examples: [[]] });
const [sha, os, arch] = [exampleText('c6e5df76ba4d8e0b…'), exampleText('linux'), exampleText('amd64')];
const key = exampleText('region');
const sensitive = z.boolean().meta({ description: 'Whether the executor must hide the value in logs and messages.' });

export const runJobSchema = defineResource({
  name: 'RunJob',
  type: 'run-jobs',
  description:
    'Everything that an executor needs for the plan or the apply of a run, with secrets. It has the id of the run.',
  exampleId: 'run-6mKd9TzPq3XvLcB8',
  attributes: {
    'allow-config-generation': z.boolean(),
    'configuration-download-url': exampleText(
      'https://cadastre.example.com/api/v2/configuration-versions/download/WyJjd…',
      'A signed link, valid for 15 minutes. It needs no token.',
    ),
    'configuration-version-id': exampleText('cv-2tLmB7xYc4NwQ9rS'),
    environment: z
      .array(z.strictObject({ key: exampleText('AWS_REGION'), value: exampleText('eu-west-1'), sensitive }))
      .meta({
        description: 'The environment variables of people, and those that describe the run.',
      }),
    fence: z.int().meta({ examples: [1] }),
    'iac-tool': z.enum(['terraform', 'tofu']).meta({
      description:
        'The tool that `terraform-version` means: `tofu` if only OpenTofu has such a release. The environment variable `CADASTRE_IAC_TOOL` of the run has precedence.',
      examples: ['terraform'],
    }),
    'invoke-action-addrs': addresses('Addresses of the actions that the run invokes.'),
    'is-destroy': z.boolean(),
    'organization-name': exampleText('acme'),
    phase: z.enum(['plan', 'apply']),
    'plan-file-url': exampleText(
      'https://cadastre.example.com/api/v2/plan-files/WyJydW4t…',
      'For an apply: a signed link to the archive that the executor of the plan has uploaded, valid for 15 minutes. Else null.',
    ).nullable(),
    'opa-versions': z
      .array(
        z.strictObject({
          version: exampleText('1.19.1'),
          archives: z.array(
            z.strictObject({ url: exampleText('https://tools.example.com/opa_linux_amd64_static'), sha, os, arch }),
          ),
          'is-site-release': z.boolean().meta({
            description:
              'Whether administrators of the site have set the archives, so that no program on the path counts.',
          }),
        }),
      )
      .meta({ description: 'The versions of OPA that the policies name, with their archives.' }),
    policies: z
      .array(
        z.strictObject({
          id: exampleText('pol-u3S5p2Uwk21keu1s'),
          name: exampleText('buckets'),
          query: exampleText('data.terraform.policies.buckets.deny'),
          'text-sha256': exampleText(
            '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
            'The name of the text in `policy-texts`; null if none was uploaded.',
          ).nullable(),
          'opa-version': exampleText('1.19.1'),
        }),
      )
      .meta({
        description:
          'For a plan: the policies that the executor evaluates. It reports the results together with `planned`.',
      }),
    'policy-input': z
      .record(z.string(), z.unknown())
      .nullable()
      .meta({ description: 'The member `run` of the input of policies, without its variables.' }),
    'policy-texts': z.record(z.string(), z.string()).meta({
      description:
        'The texts of the policies in Rego, by their SHA-256. A text is missing if it was deleted, or replaced after the first request.',
    }),
    'project-name': exampleText('Default Project'),
    'public-url': exampleText(
      'https://cadastre.example.com',
      'The address that configurations name. If the executor uses another one, the links of the job are relative to that.',
    ),
    refresh: z.boolean(),
    'refresh-only': z.boolean(),
    'replace-addrs': addresses('Addresses of the resources that the run replaces.'),
    'run-token': exampleText('…', 'A new token of the run.'),
    'snapshot-interval-seconds': z.int().meta({
      description: 'The seconds between two uploads of the state while it changes.',
      examples: [20],
    }),
    'ssh-key': exampleText('-----BEGIN OPENSSH PRIVATE KEY-----…', 'The private key of the workspace.').nullable(),
    'state-download-url': exampleText(
      'https://cadastre.example.com/api/v2/state-versions/sv-9sVb3KqTm6WxDf2L/download',
      'The current state, for requests with the token of the run; null if the workspace has none.',
    ).nullable(),
    'structured-run-output-enabled': z.boolean(),
    'target-addrs': addresses('Addresses of the resources to which the run is limited.'),
    'terraform-version': exampleText('1.13.0'),
    'terraform-version-archives': z
      .array(
        z.strictObject({
          url: exampleText('https://tools.example.com/terraform_1.13.0_linux_amd64.zip'),
          sha,
          os,
          arch,
        }),
      )
      .meta({
        description:
          'The archives that administrators of the site have set for the version. If there are any, the executor takes the program ' +
          'from the one for its platform and checks the SHA-256 checksum.',
      }),
    'terraform-version-warning': exampleText(
      'Version 1.13.0 is deprecated on this site: it has a known weakness.',
      'A text with which the log of the plan begins.',
    ).nullable(),
    'time-limit-seconds': z.int().meta({ description: 'The seconds that the phase may take.', examples: [7_200] }),
    variables: z
      .array(z.strictObject({ key, value: exampleText('"eu-west-1"'), hcl: z.boolean(), sensitive }))
      .meta({ description: 'One value for each input variable. An HCL expression if `hcl` is true.' }),
    'working-directory': exampleText('environments/production').nullable(),
    'workspace-id': exampleText('ws-7hQ2vXbN4kTgYw3D'),
    'workspace-name': exampleText('network'),
  },
});

export const runJobsOperations = describeController(
  RunJobsController,
  { ...RUNS, resource: runJobSchema },
  {
    read: {
      operationId: 'readRunJob',
      summary: 'Read what a phase of a run needs',
      description:
        'For executors, with the token of the pool, after a claim. The first nonce of a claim counts: the same nonce gets the answer again, with another token of the run.',
      body: describeResourceBody(jobBody, { fence: 1, nonce: 'kR8vQ2mXt5LcW9nB' }),
      refusals: {
        conflict: 'The fence is not that of the newest claim, or another process has read the job.',
        unprocessable: 'An attribute is not valid, or the values of all variables have more than 16 MiB.',
      },
      events: ['RunJobRead', 'AuthenticationTokenCreated'],
    },
  },
);
