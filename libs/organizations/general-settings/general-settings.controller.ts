import { Body, Controller, Get, Patch } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { CurrentActor, type Actor } from '#api/access';
import { parseBody, renderDocument, type Document } from '#api/json-api';
import { Database } from '#platform/postgres';
import { describeRateLimit } from './effective-settings.js';
import type { GeneralSettings } from './general-settings.js';
import { checkConfigured, generalSettingsBody, toSettingsChanges } from './general-settings.body.js';
import { ChangeGeneralSettings } from './general-settings.handler.js';
import { loadGeneralSettings } from './general-settings.view.js';
import { ServerDefaults } from './server-defaults.js';
import { DEFAULT_TIME_LIMITS } from './time-limit.js';

const renderAttributes = (settings: GeneralSettings, defaults: ServerDefaults) => {
  const rateLimit = describeRateLimit(settings, defaults);
  const { planTimeout, applyTimeout } = settings;
  const [plan, apply] = [planTimeout ?? DEFAULT_TIME_LIMITS.plan, applyTimeout ?? DEFAULT_TIME_LIMITS.apply];
  return {
    'allow-speculative-plans-on-pull-requests-from-forks': false,
    'api-rate-limit': rateLimit.perSecond,
    'api-rate-limiting-enabled': rateLimit.isEnabled,
    'apply-timeout': apply,
    'default-organizations-per-user-ceiling': defaults.organizationsPerUser,
    'default-remote-state-access': defaults.globalRemoteState,
    'default-workspaces-per-organization-ceiling': null,
    'fair-run-queuing-enabled': settings.fairRunQueuingEnabled,
    'limit-organizations-per-user': defaults.organizationsPerUser !== null,
    'limit-user-organization-creation': defaults.isCreationLimited,
    'limit-workspaces-per-organization': false,
    'plan-timeout': plan,
    'require-two-factor-for-admins': defaults.requiresTwoFactor,
    'send-passing-statuses-for-untriggered-speculative-plans': false,
    // go-tfe reads the limits by these names too.
    'terraform-build-worker-apply-timeout': apply,
    'terraform-build-worker-plan-timeout': plan,
  };
};

/** The general settings of the site, for its administrators. */
@Controller('api/v2/admin/general-settings')
export class GeneralSettingsController {
  constructor(
    private readonly bus: CommandBus,
    private readonly database: Database,
    private readonly defaults: ServerDefaults,
  ) {}

  @Get()
  async show(@CurrentActor() actor: Actor): Promise<Document> {
    const { settings } = await loadGeneralSettings(this.database, actor);
    return renderDocument({
      id: 'general-settings',
      type: 'general-settings',
      attributes: renderAttributes(settings, this.defaults),
      links: { self: '/api/v2/admin/general-settings' },
    });
  }

  @Patch()
  async update(@Body() body: unknown, @CurrentActor() actor: Actor): Promise<Document> {
    const requested = parseBody(generalSettingsBody, body).data.attributes;
    const { settings } = await loadGeneralSettings(this.database, actor);
    checkConfigured(requested, renderAttributes(settings, this.defaults));
    await this.bus.execute(
      new ChangeGeneralSettings('ChangeGeneralSettings', { changes: toSettingsChanges(requested), actor }),
    );
    return this.show(actor);
  }
}
