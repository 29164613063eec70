export { OutboundError, type OutboundFailure } from './outbound-errors.js';
export {
  createOutboundFetch,
  type OutboundFetch,
  type OutboundOptions,
  type OutboundRequest,
} from './outbound-fetch.js';
export { PrivateHosts } from './private-hosts.js';
export { createMailer, type Mailer, type MailOutcome, type MailServer, type OutgoingMail } from './mailer.js';
export { toMessageDomain } from './message-domain.js';
export { computeRetryPause, MAX_ATTEMPTS } from './retries.js';
