import { Module, type DynamicModule, type Provider } from '@nestjs/common';
import { APP_INTERCEPTOR } from '@nestjs/core';
import { CqrsModule } from '@nestjs/cqrs';
import { AccessModule } from '#access';
import { AgentsModule } from '#agents';
import { ApiDocsModule } from '#api-docs';
import { AuditTrailModule } from '#audit-trail';
import { ConsoleModule } from '#console';
import { DocumentCacheModule } from '#document-cache';
import { EdgeModule, HostedInterceptor, KnownFiltersInterceptor, SelfHostedInterceptor } from '#edge';
import { EventStoreModule } from '#event-store';
import { FactsModule } from '#facts';
import { HistoryModule } from '#history';
import { IdentityProvidersModule } from '#identity-providers';
import { IpAllowlistsModule } from '#ip-allowlists';
import { LiveEventsModule } from '#live-events';
import { NotificationsModule } from '#notifications';
import { OauthModule } from '#oauth';
import { OrganizationsModule } from '#organizations';
import { PagesModule } from '#pages';
import { PeopleModule } from '#people';
import { ReadsModule } from '#reads';
import { RegistryModule } from '#registry';
import { RetentionModule } from '#retention';
import { RunsModule } from '#runs';
import { SavedViewsModule } from '#saved-views';
import { ScimModule } from '#scim';
import { SignInModule } from '#sign-in';
import { SiteModule } from '#site';
import { SshKeysModule } from '#ssh-keys';
import { StateModule } from '#state';
import { TagsModule } from '#tags';
import { VariablesModule } from '#variables';
import { VaultModule } from '#vault';
import { WorkloadIdentitiesModule } from '#workload-identities';
import { WorkspacesModule } from '#workspaces';
import type { Runtime } from '../../runtime.js';
import { collectSiteFacts } from './site-facts.js';

/** Interceptors of all routes. Those of an edition remove from documents what the edition does not have. */
const listInterceptors = (edition: Runtime['settings']['edition']): Provider[] => {
  const ofEdition = { all: [], hosted: [HostedInterceptor], 'self-hosted': [SelfHostedInterceptor] }[edition];
  return [KnownFiltersInterceptor, ...ofEdition].map((useClass) => ({ provide: APP_INTERCEPTOR, useClass }));
};

/** Modules that need no options. */
const FILES_AND_HEALTH = [EdgeModule, ApiDocsModule, PagesModule, ConsoleModule];

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
    }),
    PeopleModule.with({ forgetting, tokenLifetime, quotas, organizationCreation }),
    SignInModule.with({ encryptionKeys, publicUrl, sessionHours: sessions.hours }),
    IdentityProvidersModule.with({ publicUrl, oidc, quotas }),
    WorkloadIdentitiesModule.with({
      publicUrl,
      outboundPrivateHosts,
      failedExchanges: limits.wrongTokens,
      tokensPerTeam: settings.workloadTokensPerTeam,
    }),
    OauthModule.with({ publicUrl, tokenLifetime }),
  ];
};

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
        ...FILES_AND_HEALTH,
        SiteModule.with(collectSiteFacts(runtime)),
        DocumentCacheModule.with({ ...runtime, documentCacheBytes: settings.documentCacheBytes }),
        ...listPeopleModules(runtime),
        ScimModule.with(settings),
        OrganizationsModule.with(settings),
        WorkspacesModule.with(settings),
        TagsModule,
        StateModule.with({ blobs, encryptionKeys, publicUrl, inlineLimit: settings.inlineStateLimit }),
        RunsModule.with({ blobs, encryptionKeys, publicUrl }),
        AgentsModule,
        RegistryModule.with({ blobs, encryptionKeys, publicUrl, archiveLimit: settings.providerArchiveLimit }),
        SavedViewsModule,
        IpAllowlistsModule,
        SshKeysModule,
        VariablesModule,
        NotificationsModule.with({ encryptionKeys, outboundPrivateHosts, publicUrl, smtp }),
        HistoryModule,
        LiveEventsModule.with(settings),
        // The self-hosted edition has no audit trail, so its routes are unknown.
        ...(selfHosted ? [] : [AuditTrailModule.with(settings), FactsModule.with(settings)]),
        // The hosted edition has no data retention.
        ...(hosted ? [] : [RetentionModule]),
      ],
      providers: listInterceptors(settings.edition),
    };
  }
}
