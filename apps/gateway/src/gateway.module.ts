import { Module, type DynamicModule, type Provider } from '@nestjs/common';
import { APP_INTERCEPTOR } from '@nestjs/core';
import { CqrsModule } from '@nestjs/cqrs';
import { AccessModule } from '#api/access';
import { AgentsModule } from '#organizations/agents';
import { ApiDocsModule } from '#api/api-docs';
import { AuditTrailModule } from '#activity/audit-trail';
import { AuditTrailLogModule } from '#activity/audit-trail-log';
import { ConsoleModule } from '#api/console';
import { ConnectionsModule } from '#vcs/connections';
import { DocumentCacheModule } from '#api/document-cache';
import {
  createResourceEdit,
  EdgeModule,
  HostedInterceptor,
  KnownFiltersInterceptor,
  SelfHostedInterceptor,
} from '#api/edge';
import { EventStoreModule } from '#storage/event-store';
import { FactsModule } from '#activity/facts';
import { GeneralSettingsModule } from '#organizations/general-settings';
import { HistoryModule } from '#activity/history';
import { IdentityProvidersModule } from '#identity/identity-providers';
import { IpAllowlistsModule } from '#organizations/ip-allowlists';
import { LiveEventsModule } from '#activity/live-events';
import { NotificationsModule } from '#activity/notifications';
import { OauthModule } from '#identity/oauth';
import { OidcIssuerModule } from '#identity/oidc-issuer';
import { OrganizationsModule } from '#organizations/organizations';
import { PagesModule } from '#api/pages';
import { PeopleModule } from '#identity/people';
import { ReadsModule } from '#api/reads';
import { ModulesModule } from '#registry/modules';
import { RegistryModule } from '#registry/registry';
import { RecoveryModule } from '#operations/recovery';
import { RetentionModule } from '#operations/retention';
import { CommitsModule } from '#runs/commits';
import { RunTriggersModule } from '#runs/run-triggers';
import { RunsModule } from '#runs/runs';
import { PoliciesModule } from '#runs/policies';
import { RunTasksModule } from '#runs/run-tasks';
import { SavedViewsModule } from '#organizations/saved-views';
import { ScimModule } from '#identity/scim';
import { SignInModule } from '#identity/sign-in';
import { SiteModule } from '#operations/site';
import { SshKeysModule } from '#organizations/ssh-keys';
import { StateModule } from '#workspaces/state';
import { TagsModule } from '#workspaces/tags';
import { VariablesModule } from '#workspaces/variables';
import { VaultModule } from '#storage/vault';
import { WorkloadIdentitiesModule } from '#identity/workload-identities';
import { WorkspacesModule } from '#workspaces/workspaces';
import type { Runtime } from '../../runtime.js';
import { collectSiteFacts } from './site-facts.js';

/** Interceptors of all routes. Those of an edition remove from documents what the edition does not have. */
const listInterceptors = (edition: Runtime['settings']['edition']): Provider[] => {
  const ofEdition = { all: [], hosted: [HostedInterceptor], 'self-hosted': [SelfHostedInterceptor] }[edition];
  return [KnownFiltersInterceptor, ...ofEdition].map((useClass) => ({ provide: APP_INTERCEPTOR, useClass }));
};

const WITHOUT_OPTIONS = [
  RecoveryModule,
  AgentsModule,
  ApiDocsModule,
  CommitsModule,
  ConsoleModule,
  EdgeModule,
  HistoryModule,
  IpAllowlistsModule,
  PagesModule,
  PoliciesModule,
  RunTriggersModule,
  SavedViewsModule,
  SshKeysModule,
  TagsModule,
  VariablesModule,
];

const MINUTE_MS = 60_000;

/** People and pipelines, and the ways in which they prove who they are. */
const listPeopleModules = ({ encryptionKeys, forgetting, settings }: Runtime): DynamicModule[] => {
  const {
    limits,
    oidc,
    organizationCreation,
    outboundPrivateHosts,
    publicUrl,
    quotas,
    requiresTwoFactor,
    sessions,
    tokenLifetime,
  } = settings;
  return [
    AccessModule.with({
      wrongTokens: limits.wrongTokens,
      sessions: { idleMs: sessions.idleMinutes * MINUTE_MS, siteOrigin: publicUrl },
      requiresTwoFactor,
      recoverableDays: settings.recoverableDays,
    }),
    PeopleModule.with({ forgetting, tokenLifetime, quotas, organizationCreation }),
    SignInModule.with({ encryptionKeys, publicUrl, sessionHours: sessions.hours, organizationCreation }),
    IdentityProvidersModule.with({ publicUrl, oidc, quotas }),
    WorkloadIdentitiesModule.with({
      publicUrl,
      outboundPrivateHosts,
      failedExchanges: limits.wrongTokens,
      tokensPerTeam: settings.workloadTokensPerTeam,
    }),
    OauthModule.with({ publicUrl, tokenLifetime }),
    OidcIssuerModule.with({ publicUrl }),
  ];
};

/** The status and the general settings of the site. */
const listSiteModules = (runtime: Runtime): DynamicModule[] => {
  const { limits, organizationCreation, requiresTwoFactor, globalRemoteState, quotas } = runtime.settings;
  return [
    SiteModule.with(collectSiteFacts(runtime)),
    GeneralSettingsModule.with({
      rateLimit: limits.perToken,
      workers: limits.workers,
      isCreationLimited: organizationCreation.creators !== 'everyone',
      requiresTwoFactor,
      globalRemoteState,
      organizationsPerUser: quotas.organizationsPerUser,
    }),
  ];
};
const listRunModules = ({ blobs, encryptionKeys, settings }: Runtime): DynamicModule[] => [
  RunTasksModule.with(settings),
  RunsModule.with({ ...settings, blobs, encryptionKeys }),
];

const listRegistryModules = ({ blobs, encryptionKeys, settings }: Runtime): DynamicModule[] => [
  RegistryModule.with({ ...settings, blobs, encryptionKeys, archiveLimit: settings.providerArchiveLimit }),
  ModulesModule.with({ ...settings, blobs, encryptionKeys }),
];

/** The REST gateway with all modules that it serves. */
@Module({})
export class GatewayModule {
  static over(runtime: Runtime): DynamicModule {
    const { blobs, encryptionKeys, settings } = runtime;
    const { outboundPrivateHosts, publicUrl, smtp } = settings;
    const selfHosted = settings.edition === 'self-hosted';
    const hosted = settings.edition === 'hosted';
    return {
      module: GatewayModule,
      imports: [
        CqrsModule.forRoot(),
        EventStoreModule.with(runtime),
        VaultModule.with(runtime),
        // The self-hosted edition has no trail, so reads are not recorded.
        ReadsModule.with({ recorded: !selfHosted }),
        ...WITHOUT_OPTIONS,
        ...listSiteModules(runtime),
        DocumentCacheModule.with({
          ...runtime,
          documentCacheBytes: settings.documentCacheBytes,
          editResource: createResourceEdit(settings.edition),
        }),
        ...listPeopleModules(runtime),
        ScimModule.with(settings),
        OrganizationsModule.with(settings),
        ConnectionsModule.with(settings),
        WorkspacesModule.with(settings),
        StateModule.with({ blobs, encryptionKeys, publicUrl, inlineLimit: settings.inlineStateLimit }),
        ...listRunModules(runtime),
        ...listRegistryModules(runtime),
        NotificationsModule.with({ encryptionKeys, outboundPrivateHosts, publicUrl, smtp }),
        LiveEventsModule.with(settings),
        // The self-hosted edition has no audit trail, so its routes are unknown.
        ...(selfHosted
          ? []
          : [AuditTrailModule.with(settings), AuditTrailLogModule.with(settings), FactsModule.with(settings)]),
        // The hosted edition has no data retention.
        ...(hosted ? [] : [RetentionModule]),
      ],
      providers: listInterceptors(settings.edition),
    };
  }
}
