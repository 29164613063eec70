import { count, limit, wholeNumber } from './variable-forms.js';
import { variable } from './variable.js';

/** Limits of what reads may use of Postgres. */
export const readVariables = {
  CADASTRE_READ_TIMEOUT_SECONDS: variable(
    '5',
    'time after which Postgres cancels an ordinary read, in seconds; its request gets 503',
    wholeNumber(1, 600, 5),
  ),
  CADASTRE_SLOW_READ_TIMEOUT_SECONDS: variable(
    '15',
    'the same for slow reads: lists, searches, exports, reads of the past',
    wholeNumber(1, 600, 15),
  ),
  CADASTRE_SLOW_CONNECTIONS: variable(
    '4',
    'connections of each process to Postgres for slow reads; each runs one at a time',
    wholeNumber(2, 100, 4),
  ),
  CADASTRE_SLOW_READS_PER_CALLER: variable(
    '2',
    'slow reads of one caller that run at the same time; fewer than CADASTRE_SLOW_CONNECTIONS',
    wholeNumber(1, 99, 2),
  ),
} as const;

/** Limits of what requests may use of a gateway: connections, time, memory. */
export const requestVariables = {
  CADASTRE_INLINE_STATE_MAX_MIB: variable(
    '10',
    'largest state within a request that creates a state version, in MiB; larger states use the signed upload',
    wholeNumber(1, 100, 10),
  ),
  CADASTRE_PROVIDER_MAX_MIB: variable('1024', 'largest zip of a provider, in MiB', wholeNumber(1, 65_536, 1_024)),
  CADASTRE_MAX_CONNECTIONS: count(1_000, 'most connections of one gateway; more get 503'),
  CADASTRE_MAX_CONNECTIONS_PER_ADDRESS: count(
    500,
    'most connections from one address; CADASTRE_TRUSTED_PROXIES are not limited',
  ),
  CADASTRE_REQUEST_TIMEOUT_SECONDS: count(30, 'time for the body of a request to arrive; uploads have a rate instead'),
  CADASTRE_UPLOAD_MIN_RATE: count(1_024, 'slowest upload of a file, in bytes a second, on average over 30 seconds'),
  CADASTRE_BODY_MEMORY_MIB: count(
    64,
    'most memory of all JSON bodies that are being received, in MiB; at least one request with the largest states',
    2,
  ),
  CADASTRE_BODY_MEMORY_PER_CALLER_MIB: count(32, 'the same for one caller, in MiB', 2),
  CADASTRE_FACTS_LIMIT: variable(
    '2000',
    'facts that an organization can report in ten seconds, by REST and Kafka together, at least 1000; or off',
    // One request can have 1000 facts; a lower limit would never accept it.
    limit(1_000, 1_000_000, 2_000),
  ),
} as const;

/** Limits of what callers may use of the server. */
export const limitVariables = {
  CADASTRE_RATE_LIMIT: variable(
    '100',
    'requests per second for each token, with bursts of twice that; or off',
    // go-tfe allows itself bursts of a third of this number, and fails on every request if that is less than one.
    limit(4, 100_000, 100),
  ),
  CADASTRE_ADDRESS_RATE_LIMIT: variable(
    '500',
    'requests per second from each address without a valid token, with bursts of twice that; or off',
    limit(4, 100_000, 500),
  ),
  CADASTRE_WRONG_TOKEN_LIMIT: variable(
    '60',
    'requests with a wrong token that each address may send per minute; or off',
    limit(1, 100_000, 60),
  ),
  CADASTRE_ACCESS_CHANGE_LIMIT: variable(
    '20',
    'tokens that each caller may create per second, and changes of their own account, with bursts of twice that; or off',
    limit(1, 100_000, 20),
  ),
  CADASTRE_MAX_ORGANIZATIONS_PER_USER: variable(
    '100',
    'organizations that a user can own and still create another one; administrators of the site have no limit; or off',
    limit(1, 1_000_000, 100),
  ),
  CADASTRE_MAX_USERS: variable(
    '10000',
    'users of the site; at that number, invitations create no more, only the command line does; or off',
    limit(1, 100_000_000, 10_000),
  ),
  CADASTRE_MAX_TOKENS_PER_OWNER: variable(
    '500',
    'tokens of each user, team, organization and agent pool; or off',
    limit(1, 1_000_000, 500),
  ),
} as const;
