export { exchangeForm, TOKEN_EXCHANGE } from './exchange/exchange-request.js';
export { TokenExchange, type ExchangedToken } from './exchange/token-exchange.service.js';
export { listImportedIdentities, type ImportedIdentity } from './identities/imported-identities.operator.js';
export { createExpiredWorkloadTokensJob } from './expired-workload-tokens.job.js';
export { workloadIdentitiesDefinition, WorkloadIdentitiesModule } from './workload-identities.module.js';
