import { z } from 'zod';
import { omitUndefined, resourceBody, storedOnly, unsupportedMember } from '#api/json-api';
import type { OrganizationChanges } from '../organizations/organization.js';
import { ORGANIZATION_SETTINGS } from '../organizations/organization-settings.js';

const NO_TIME_LIMITS = 'the server limits no time of plans and applies';

export const adminUpdateBody = resourceBody(
  'organizations',
  z
    .object({
      'access-beta-tools': storedOnly(ORGANIZATION_SETTINGS.shape.accessBetaTools.optional()),
      'global-module-sharing': ORGANIZATION_SETTINGS.body['global-module-sharing'],
      'apply-timeout': unsupportedMember(NO_TIME_LIMITS),
      'global-provider-sharing': unsupportedMember('providers belong to one organization'),
      'is-disabled': unsupportedMember('organizations cannot be disabled; users can be suspended'),
      'plan-timeout': unsupportedMember(NO_TIME_LIMITS),
      'terraform-build-worker-apply-timeout': unsupportedMember(NO_TIME_LIMITS),
      'terraform-build-worker-plan-timeout': unsupportedMember(NO_TIME_LIMITS),
      'terraform-worker-sudo-enabled': unsupportedMember('the server executes no runs, so it has no workers'),
      'workspace-limit': unsupportedMember('organizations can have any number of workspaces'),
    })
    .default({}),
);

type AdminUpdateData = z.infer<typeof adminUpdateBody>['data'];

export const toAdminChanges = ({ attributes }: AdminUpdateData): OrganizationChanges => ({
  ...ORGANIZATION_SETTINGS.read({ 'global-module-sharing': attributes['global-module-sharing'] }),
  ...omitUndefined({ accessBetaTools: attributes['access-beta-tools'] }),
});
