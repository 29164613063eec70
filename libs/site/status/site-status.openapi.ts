import { describeController, describeDocument } from '#json-api/description';
import { SiteStatusController } from './site-status.controller.js';

const SITE = { name: 'Site', description: 'The site as a whole, for its administrators.' };

export const siteStatusOperations = describeController(SiteStatusController, SITE, {
  show: {
    operationId: 'getSiteStatus',
    summary: 'Show versions, settings, processes, followers and storage of the site',
    answer: describeDocument('SiteStatus'),
  },
});
