import { Module, type DynamicModule } from '@nestjs/common';
import { CqrsModule } from '@nestjs/cqrs';
import { Clock, Ids } from '#platform/kernel';
import { createOutboundFetch, PrivateHosts } from '#platform/outbound';
import { defineAggregate, toProjection, type ModuleDefinition, EventStore } from '#storage/event-store';
import { workloadIdentityEvents } from './identities/workload-identities.events.js';
import {
  WORKLOAD_IDENTITY_NAMES,
  workloadIdentities,
  workloadIdentityNames,
} from './identities/workload-identities.view.js';
import { workloadIdentity } from './identities/workload-identity.js';
import { FailedExchanges } from './exchange/failed-exchanges.limiter.js';
import { IssuerKeys, KEY_LIMITS } from './exchange/issuer-keys.service.js';
import { SubjectTokenVerifier } from './exchange/subject-token.verifier.js';
import { TokenExchange } from './exchange/token-exchange.service.js';
import { WorkloadIdentitiesController } from './identities/workload-identities.controller.js';
import { WorkloadIdentitiesHandler } from './identities/workload-identities.handler.js';
import { PUBLIC_URL } from './workload-identities.options.js';

export const workloadIdentitiesDefinition: ModuleDefinition = {
  name: 'workload-identities',
  kinds: workloadIdentityEvents,
  aggregates: [defineAggregate('wid', workloadIdentity)],
  projections: [toProjection(workloadIdentities), toProjection(workloadIdentityNames)],
  followers: [],
  uniqueNames: [WORKLOAD_IDENTITY_NAMES],
  migrations: new URL('./sql/', import.meta.url),
};

type WorkloadIdentitiesOptions = {
  readonly publicUrl: string;
  /** Hosts with private addresses that issuers may have. */
  readonly outboundPrivateHosts: readonly string[];
  /** Failed exchanges per minute and address; null for no limit. */
  readonly failedExchanges: number | null;
  /** The most unexpired tokens that the identities of a team can have issued. */
  readonly tokensPerTeam: number;
};

@Module({
  imports: [CqrsModule],
  controllers: [WorkloadIdentitiesController],
  providers: [WorkloadIdentitiesHandler],
})
export class WorkloadIdentitiesModule {
  static with(options: WorkloadIdentitiesOptions): DynamicModule {
    const { publicUrl, outboundPrivateHosts, failedExchanges, tokensPerTeam } = options;
    const fetch = createOutboundFetch({ privateHosts: new PrivateHosts(outboundPrivateHosts), ...KEY_LIMITS });
    return {
      module: WorkloadIdentitiesModule,
      // The OAuth server exchanges tokens of pipelines (libs/identity/oauth).
      global: true,
      providers: [
        { provide: PUBLIC_URL, useValue: publicUrl },
        {
          provide: TokenExchange,
          useFactory: (store: EventStore, ids: Ids, clock: Clock) => {
            const verifier = new SubjectTokenVerifier(new IssuerKeys(fetch, clock), clock);
            const failures = new FailedExchanges(clock, failedExchanges);
            return new TokenExchange({ store, ids, clock, verifier, failures, publicUrl, tokensPerTeam });
          },
          inject: [EventStore, Ids, Clock],
        },
      ],
      exports: [TokenExchange],
    };
  }
}
