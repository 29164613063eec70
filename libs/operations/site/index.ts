export { createJobRecorder } from './records/job-runs.queries.js';
export { readLogEnd, recordVerification } from './records/verifications.queries.js';
export { siteDefinition, SiteModule } from './site.module.js';
export type { SiteFacts, SiteSetting } from './status/site-facts.js';
