import { z } from 'zod';
import { toLabel, unprocessable } from '#platform/kernel';
import { configuredMember, omitUndefined, resourceBody, unsupportedMember } from '#api/json-api';
import type { GeneralSettingsChanges } from './general-settings.js';
import { omitNullTimeLimits, readTimeLimits, timeLimitMember } from './time-limit.body.js';

/** As the vendor's. go-tfe limits its own bursts to a third of the rate. */
const MIN_RATE_LIMIT = 30;
const MAX_RATE_LIMIT = 100_000;

const rateLimit = z
  .int()
  .min(MIN_RATE_LIMIT, `must be at least ${MIN_RATE_LIMIT} requests per second`)
  .max(MAX_RATE_LIMIT, `must be at most ${MAX_RATE_LIMIT} requests per second`)
  .nullish();

/** The settings of the server that decide, by the member that shows their value. */
const CONFIGURED = {
  'default-organizations-per-user-ceiling': 'CADASTRE_MAX_ORGANIZATIONS_PER_USER',
  'default-remote-state-access': 'CADASTRE_GLOBAL_REMOTE_STATE',
  'limit-organizations-per-user': 'CADASTRE_MAX_ORGANIZATIONS_PER_USER',
  'limit-user-organization-creation': 'CADASTRE_ORGANIZATION_CREATORS',
  'require-two-factor-for-admins': 'CADASTRE_REQUIRE_TWO_FACTOR',
} as const;
type ConfiguredName = keyof typeof CONFIGURED;

const configured = <S extends z.ZodType>(name: ConfiguredName, schema: S) =>
  configuredMember(`the setting ${CONFIGURED[name]} of the server decides`, schema.nullish());

const configuredFlag = (name: ConfiguredName) => configured(name, z.boolean());

export const generalSettingsBody = resourceBody(
  'general-settings',
  z
    .object({
      'api-rate-limit': rateLimit,
      'api-rate-limiting-enabled': z.boolean().nullish(),
      'apply-timeout': timeLimitMember,
      'fair-run-queuing-enabled': z.boolean().optional(),
      'plan-timeout': timeLimitMember,
      'terraform-build-worker-apply-timeout': timeLimitMember,
      'terraform-build-worker-plan-timeout': timeLimitMember,
      'default-organizations-per-user-ceiling': configured('default-organizations-per-user-ceiling', z.int()),
      'default-remote-state-access': configuredFlag('default-remote-state-access'),
      'limit-organizations-per-user': configuredFlag('limit-organizations-per-user'),
      'limit-user-organization-creation': configuredFlag('limit-user-organization-creation'),
      'require-two-factor-for-admins': configuredFlag('require-two-factor-for-admins'),
      'allow-speculative-plans-on-pull-requests-from-forks': unsupportedMember(
        'plans run any code, so pull requests from forks start none',
      ),
      'default-workspaces-per-organization-ceiling': unsupportedMember(
        'organizations can have any number of workspaces',
      ),
      'limit-workspaces-per-organization': unsupportedMember('organizations can have any number of workspaces'),
      'send-passing-statuses-for-untriggered-speculative-plans': unsupportedMember(
        'the server reports statuses of runs only',
      ),
    })
    .default({}),
);

type RequestedSettings = z.infer<typeof generalSettingsBody>['data']['attributes'];

/** Refuses other values than the present ones of what only the configuration of the server changes. */
export const checkConfigured = (requested: RequestedSettings, present: Readonly<Record<string, unknown>>): void => {
  for (const [name, variable] of Object.entries(CONFIGURED) as [ConfiguredName, string][]) {
    const value = requested[name];
    if (value === undefined || value === null || value === present[name]) continue;
    throw unprocessable(
      `${toLabel(name)} is ${String(present[name])}: only the setting ${variable} of the server changes it`,
      name,
    );
  }
};

/** Returns the changes of a request. */
export const toSettingsChanges = (requested: RequestedSettings): GeneralSettingsChanges =>
  omitUndefined({
    apiRateLimitingEnabled: requested['api-rate-limiting-enabled'],
    apiRateLimit: requested['api-rate-limit'],
    ...readTimeLimits(omitNullTimeLimits(requested)),
    fairRunQueuingEnabled: requested['fair-run-queuing-enabled'],
  });
