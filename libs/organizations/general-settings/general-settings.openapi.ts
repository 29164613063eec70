import { z } from 'zod';
import {
  always,
  count,
  defineResource,
  describeController,
  describeResourceBody,
  exampleText,
  serverPath,
} from '#api/json-api/description';
import { generalSettingsBody } from './general-settings.body.js';
import { GeneralSettingsController } from './general-settings.controller.js';

const flagOf = (description: string) => z.boolean().meta({ description });

const OLD_NAME = 'The same value by its name in earlier releases of Terraform Enterprise.';

export const generalSettingsSchema = defineResource({
  name: 'GeneralSettings',
  type: 'general-settings',
  description: 'Settings of the whole site.',
  noun: 'general settings',
  exampleId: 'general-settings',
  attributes: {
    'allow-speculative-plans-on-pull-requests-from-forks': always(false),
    'api-rate-limit': count('Requests per second for each token, with bursts of twice that.'),
    'api-rate-limiting-enabled': flagOf('Whether the requests of each token are limited.'),
    'apply-timeout': exampleText('24h', 'The longest time of an apply.'),
    'default-organizations-per-user-ceiling': count(
      'Organizations that a user can own; null for any number.',
    ).nullable(),
    'default-remote-state-access': flagOf('Whether new workspaces share their state with their whole organization.'),
    'default-workspaces-per-organization-ceiling': always(null),
    'fair-run-queuing-enabled': flagOf(
      'Whether executors of the site serve organizations in turn. Otherwise, applies of all organizations come first, then plans, the oldest before others.',
    ),
    'limit-organizations-per-user': flagOf('Whether the number of organizations that a user can own is limited.'),
    'limit-user-organization-creation': flagOf('Whether only administrators of the site create organizations.'),
    'limit-workspaces-per-organization': always(false),
    'plan-timeout': exampleText('2h', 'The longest time of a plan.'),
    'require-two-factor-for-admins': flagOf('Whether people need a second factor: everybody, not only administrators.'),
    'send-passing-statuses-for-untriggered-speculative-plans': always(false),
    'terraform-build-worker-apply-timeout': exampleText('24h', OLD_NAME),
    'terraform-build-worker-plan-timeout': exampleText('2h', OLD_NAME),
  },
  links: { self: serverPath('/api/v2/admin/general-settings') },
});

export const generalSettingsOperations = describeController(
  GeneralSettingsController,
  {
    name: 'General settings',
    description: 'Settings of the whole site, for its administrators.',
    resource: generalSettingsSchema,
  },
  {
    show: { summary: 'Show the general settings of the site' },
    update: {
      summary: 'Change the general settings of the site',
      description:
        'Null sets a rate limit or a time back to the default of the server. Times are from `1m` to `24h`, and apply to plans and applies that executors claim after the change. Other gateways use a new rate limit within ten seconds.',
      body: describeResourceBody(generalSettingsBody, { 'api-rate-limit': 60, 'plan-timeout': '1h' }),
      events: ['GeneralSettingsChanged'],
    },
  },
);
