import { describeController, describeDocument } from '#api/json-api/description';
import { SiteStatusesController } from './site-statuses.controller.js';

const SITE = { name: 'Site', description: 'The site as a whole, for its administrators.' };

export const siteStatusesOperations = describeController(SiteStatusesController, SITE, {
  show: {
    operationId: 'getSiteStatus',
    summary: 'Show versions, settings, processes, followers and storage of the site',
    answer: describeDocument('SiteStatus'),
  },
});
