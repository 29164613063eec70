import { ORGANIZATION_CREATORS } from '#platform/kernel';
import { defineCountVariable, limitSchema, oneOfSchema, wholeNumberSchema } from './variable-schemas.js';
import { defineVariable } from './variable.js';

/** Limits on the use of Postgres by reads. */
export const readLimitVariables = {
  CADASTRE_READ_TIMEOUT_SECONDS: defineVariable(
    '5',
    'time after which Postgres cancels an ordinary read, in seconds; its request gets 503',
    wholeNumberSchema(1, 600, 5),
  ),
  CADASTRE_SLOW_READ_TIMEOUT_SECONDS: defineVariable(
    '15',
    'time after which Postgres cancels a slow read (lists, searches, exports, reads of the past), in seconds',
    wholeNumberSchema(1, 600, 15),
  ),
  CADASTRE_SLOW_CONNECTIONS: defineVariable(
    '4',
    'connections of each process to Postgres for slow reads; each runs one at a time',
    wholeNumberSchema(2, 100, 4),
  ),
  CADASTRE_SLOW_READS_PER_CALLER: defineVariable(
    '2',
    'slow reads of one caller that run at the same time; fewer than CADASTRE_SLOW_CONNECTIONS',
    wholeNumberSchema(1, 99, 2),
  ),
} as const;

/** Limits on the use of a gateway by requests: connections, time, memory. */
export const requestVariables = {
  CADASTRE_INLINE_STATE_MAX_MIB: defineVariable(
    '10',
    'largest state within a request that creates a state version, in MiB; larger states use the signed upload',
    wholeNumberSchema(1, 100, 10),
  ),
  CADASTRE_PROVIDER_MAX_MIB: defineVariable(
    '1024',
    'largest zip of a provider, in MiB',
    wholeNumberSchema(1, 65_536, 1_024),
  ),
  CADASTRE_MODULE_MAX_MIB: defineVariable(
    '64',
    'largest archive of a module version, in MiB',
    wholeNumberSchema(1, 1_024, 64),
  ),
  CADASTRE_RUN_LOG_MAX_MIB: defineVariable(
    '64',
    'longest log of a plan or an apply, in MiB; the rest is dropped',
    wholeNumberSchema(1, 1_024, 64),
  ),
  CADASTRE_PLAN_FILE_MAX_MIB: defineVariable(
    '256',
    'largest archive with the plan of a run, in MiB',
    wholeNumberSchema(1, 65_536, 256),
  ),
  CADASTRE_MAX_CONNECTIONS: defineCountVariable(1_000, 'most connections of one gateway; more get 503'),
  CADASTRE_MAX_CONNECTIONS_PER_ADDRESS: defineCountVariable(
    500,
    'most connections from one address; CADASTRE_TRUSTED_PROXIES are not limited',
  ),
  CADASTRE_MAX_LIVE_STREAMS: defineCountVariable(
    500,
    'most open live streams of one gateway, at most half of CADASTRE_MAX_CONNECTIONS; more get 503',
  ),
  CADASTRE_MAX_LIVE_STREAMS_PER_CALLER: defineCountVariable(
    20,
    'most open live streams of one user, team or organization on one gateway; more get 429',
  ),
  CADASTRE_MAX_UNANSWERED_REQUESTS: defineVariable(
    '500',
    'most reads, and most writes, that a gateway works on at the same time; more wait; or off',
    limitSchema(16, 100_000, 500),
  ),
  CADASTRE_STATEMENT_TARGET_MS: defineVariable(
    '100',
    'while half of the statements take longer than this, in milliseconds, a gateway works on fewer requests',
    wholeNumberSchema(10, 60_000, 100),
  ),
  CADASTRE_MAX_WAIT_MS: defineVariable(
    '500',
    'how long a request waits until the gateway works on it, in milliseconds; then it gets 503',
    wholeNumberSchema(0, 60_000, 500),
  ),
  CADASTRE_REQUEST_TIMEOUT_SECONDS: defineCountVariable(
    30,
    'time for the body of a request to arrive; uploads have a rate instead',
  ),
  CADASTRE_UPLOAD_MIN_RATE: defineCountVariable(
    1_024,
    'slowest upload of a file, in bytes a second, on average over 30 seconds',
  ),
  CADASTRE_BODY_MEMORY_MIB: defineCountVariable(
    64,
    'most memory of all JSON bodies that are being received, in MiB; at least one request with the largest states',
    2,
  ),
  CADASTRE_BODY_MEMORY_PER_CALLER_MIB: defineCountVariable(
    32,
    'most memory of the JSON bodies of one caller that are being received, in MiB',
    2,
  ),
  CADASTRE_DOCUMENT_CACHE_MIB: defineVariable(
    '16',
    'memory of each gateway for documents that it has rendered, in MiB; or off',
    limitSchema(1, 65_536, 16),
  ),
  CADASTRE_FACTS_LIMIT: defineVariable(
    '2000',
    'facts that an organization can report in ten seconds, by REST and Kafka together, at least 1000; or off',
    // One request can have 1000 facts; a lower limit would never accept such a request.
    limitSchema(1_000, 1_000_000, 2_000),
  ),
} as const;

/** Limits on the use of the server by callers. */
export const limitVariables = {
  CADASTRE_RATE_LIMIT: defineVariable(
    '100',
    'requests per second for each token, with bursts of twice that; or off',
    // go-tfe limits its own bursts to a third of this number, and fails on every request if that is less than one.
    limitSchema(4, 100_000, 100),
  ),
  CADASTRE_ADDRESS_RATE_LIMIT: defineVariable(
    '500',
    'requests per second from each address without a valid token, with bursts of twice that; or off',
    limitSchema(4, 100_000, 500),
  ),
  CADASTRE_WRONG_TOKEN_LIMIT: defineVariable(
    '60',
    'requests with a wrong token that each address may send per minute; or off',
    limitSchema(1, 100_000, 60),
  ),
  CADASTRE_ACCESS_CHANGE_LIMIT: defineVariable(
    '20',
    'tokens that each caller may create per second, and changes of their own account, with bursts of twice that; or off',
    limitSchema(1, 100_000, 20),
  ),
  CADASTRE_MAX_ORGANIZATIONS_PER_USER: defineVariable(
    '100',
    'organizations that a user can own and still create another one; administrators of the site have no limit; or off',
    limitSchema(1, 1_000_000, 100),
  ),
  CADASTRE_MAX_USERS: defineVariable(
    '10000',
    'users of the site; at that number, sign-ins and SCIM create no more, only the command line does; accounts that are only invited do not count; or off',
    limitSchema(1, 100_000_000, 10_000),
  ),
  CADASTRE_MAX_INVITATIONS_PER_ORGANIZATION: defineVariable(
    '500',
    'invitations of each organization that nobody has accepted; or off',
    limitSchema(1, 1_000_000, 500),
  ),
  CADASTRE_MAX_INVITATIONS_PER_CALLER: defineVariable(
    '200',
    'invitations that a caller has sent and nobody has accepted; administrators of the site have no limit; or off',
    limitSchema(1, 1_000_000, 200),
  ),
  CADASTRE_ORGANIZATION_CREATORS: defineVariable(
    'everyone',
    'who may create organizations: everyone with an account, or administrators of the site',
    oneOfSchema(ORGANIZATION_CREATORS, 'everyone'),
  ),
  CADASTRE_MAX_TOKENS_PER_OWNER: defineVariable(
    '500',
    'tokens of each user, team, organization and agent pool; or off',
    limitSchema(1, 1_000_000, 500),
  ),
  CADASTRE_MAX_RUN_VALUES_MIB_PER_ORGANIZATION: defineVariable(
    '512',
    'compressed variables of the runs of each organization that have not ended, in MiB; or off',
    limitSchema(1, 1_048_576, 512),
  ),
  CADASTRE_MAX_SITE_RUNS_PER_ORGANIZATION: defineVariable(
    '20',
    'plans and applies of each organization that executors of the site execute at once; or off',
    limitSchema(1, 1_000_000, 20),
  ),
  CADASTRE_MAX_WORKLOAD_TOKENS_PER_TEAM: defineVariable(
    '1000',
    'unexpired tokens of each team that its workload identities have issued to pipelines',
    // Deleting a team ends all of them in one transaction.
    wholeNumberSchema(1, 5_000, 1_000),
  ),
} as const;
